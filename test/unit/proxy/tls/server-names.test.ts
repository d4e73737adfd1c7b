// Certificate for a server name, compared with a slow search of the whole list.
import { expect } from 'chai';
import fc from 'fast-check';
import { parseHostPattern } from '../../../../src/proxy/target/host.ts';
import { covers } from '../../../../src/proxy/tls/certificate.ts';
import { DeclaredNames } from '../../../../src/proxy/tls/declared-names.ts';
import { type Named, ServerNames } from '../../../../src/proxy/tls/server-names.ts';

const label = fc.constantFrom('a', 'b', 'shop', 'x-1');
const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const pattern = fc.oneof(
  host,
  host.map((text) => `*.${text}`),
);
const list = fc.array(
  fc.array(pattern, { maxLength: 4 }).map((names) => ({ names })),
  { maxLength: 8 },
);

/** An exact name anywhere in the list, else a wildcard of one label, the first each time. */
function slowly(items: readonly Named[], name: string): Named | undefined {
  const rest = name.split('.').slice(1).join('.');
  return (
    items.find(({ names }) => names.includes(name)) ??
    items.find(({ names }) => rest !== '' && names.includes(`*.${rest}`))
  );
}

describe('certificates by declared server names', () => {
  const patterns = fc.array(fc.oneof(pattern, fc.constant('*')), { maxLength: 4 });

  /** The name itself anywhere in the list, else the longest suffix of any labels, else any name; the first each time. */
  function declaredSlowly(items: readonly (readonly string[])[], name: string): number {
    const first = (wanted: string): number => items.findIndex((item) => item.includes(wanted));
    const labels = name.split('.');
    const wanted = [name, ...labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join('.')}`), '*'];
    return wanted.map(first).find((at) => at >= 0) ?? -1;
  }

  it('are found as by a search of the whole list', () => {
    fc.assert(
      fc.property(fc.array(patterns, { maxLength: 8 }), host, (items, name) => {
        const names = new DeclaredNames<number>();
        for (const [at, item] of items.entries()) names.add(at, item.map(parseHostPattern));
        expect(names.find(name) ?? -1).to.equal(declaredSlowly(items, name));
      }),
      { numRuns: 2_000 },
    );
  });

  it('cover the hosts that they are for', () => {
    const certificate = { cert: '', key: '', names: ['own.test'], addresses: [], startsMs: 0, endsMs: 0 };
    const declared = ['a.test', '*.b.test'].map(parseHostPattern);
    const covered = (name: string): boolean => covers({ ...certificate, declared }, name);
    expect(['own.test', 'a.test', 'x.b.test', 'x.y.b.test'].map(covered)).to.deep.equal([true, true, true, true]);
    expect(['b.test', 'x.a.test'].map(covered)).to.deep.equal([false, false]);
  });
});

describe('certificates by server name', () => {
  it('are found as by a search of the whole list', () => {
    fc.assert(
      fc.property(list, host, (items, name) => {
        expect(new ServerNames(items).find(name)).to.equal(slowly(items, name));
      }),
      { numRuns: 2_000 },
    );
  });

  it('cover a host exactly when it would find them', () => {
    fc.assert(
      fc.property(list, host, (items, name) => {
        for (const { names } of items) {
          const certificate = { cert: '', key: '', names, addresses: [], declared: [], startsMs: 0, endsMs: 0 };
          expect(covers(certificate, name)).to.equal(slowly([{ names }], name) !== undefined);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('are none for invalid names', () => {
    const names = new ServerNames([{ names: ['*.a', 'b'] }]);
    for (const name of ['', '.', '.a', '*.a', '..a', 'a.', '__proto__', 'constructor'])
      if (name !== '*.a') expect(names.find(name), name).to.equal(undefined);
  });
});
