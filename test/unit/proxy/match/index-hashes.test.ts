import { expect } from 'chai';
import { hashSeed, hashStep } from '../../../../src/proxy/match/hash-slots.ts';
import { seededRandom } from '../../../support/random.ts';
import { aRoute, tableOf, winner } from '../../../support/routing.ts';

/** As the index hashes: paths of the first host from their beginning, hosts from their end. */
function hashOf(units: string): number {
  let hash = hashSeed(0);
  for (const unit of units) hash = hashStep(hash, unit.charCodeAt(0));
  return hash;
}

const reversed = (text: string): string => [...text].reverse().join('');

/** Pairs of texts that share a hash, found by trying many. */
function collisions(make: (word: string) => string, hash: (text: string) => number): (readonly [string, string])[] {
  const random = seededRandom(5);
  const known = new Map<number, string>();
  const pairs: (readonly [string, string])[] = [];
  while (pairs.length < 3) {
    const text = make(Math.floor(random() * 36 ** 6).toString(36));
    const other = known.get(hash(text));
    if (other === undefined) known.set(hash(text), text);
    else if (other !== text) pairs.push([other, text]);
  }
  return pairs;
}

describe('hosts in the index', () => {
  it('are found however many there are', () => {
    const hosts = Array.from({ length: 500 }, (_, i) => `${'x'.repeat(i % 7)}${i}.test`);
    const exact = hosts.map((host) => aRoute(host, { hostnames: [host] }));
    const table = tableOf({
      routes: [...exact, ...hosts.map((host) => aRoute(`*.${host}`, { hostnames: [`*.${host}`] }))],
    });
    for (const host of hosts) {
      expect(winner(table, { authority: host })).to.equal(host);
      expect(winner(table, { authority: `a.${host}` })).to.equal(`*.${host}`);
      expect(winner(table, { authority: `${host}a` })).to.equal(undefined);
    }
  });

  it('are told apart when they share a hash', () => {
    for (const [known, other] of collisions(
      (word) => `${word}.test`,
      (host) => hashOf(reversed(host)),
    )) {
      const alone = tableOf({ routes: [aRoute('known', { hostnames: [known] })] });
      expect(winner(alone, { authority: known })).to.equal('known');
      expect(winner(alone, { authority: other })).to.equal(undefined);
      const both = tableOf({ routes: [known, other].map((host) => aRoute(host, { hostnames: [host] })) });
      for (const host of [known, other]) expect(winner(both, { authority: host })).to.equal(host);
    }
  });

  it('are told apart from others under a suffix that shares their hash', () => {
    for (const [known, other] of collisions(
      (word) => `.${word}`,
      (suffix) => hashOf(reversed(suffix)),
    )) {
      const alone = tableOf({ routes: [aRoute('known', { hostnames: [`*${known}`] })] });
      expect(winner(alone, { authority: `a${known}` })).to.equal('known');
      expect(winner(alone, { authority: `a${other}` })).to.equal(undefined);
      const both = tableOf({ routes: [known, other].map((suffix) => aRoute(suffix, { hostnames: [`*${suffix}`] })) });
      for (const suffix of [known, other]) expect(winner(both, { authority: `a${suffix}` })).to.equal(suffix);
    }
  });
});

describe('exact paths and prefixes in the index', () => {
  const pairs = collisions((word) => `/${word}`, hashOf);

  it('are told apart when they share a hash', () => {
    const texts = pairs.flat();
    const table = tableOf({
      routes: [
        ...texts.map((text) => aRoute(`exactly ${text}`, { path: text })),
        ...texts.map((text) => aRoute(`under ${text}`, { pathPrefix: text })),
      ],
    });
    for (const text of texts) {
      expect(winner(table, { target: text })).to.equal(`exactly ${text}`);
      expect(winner(table, { target: `${text}/x` })).to.equal(`under ${text}`);
    }
  });

  it('are not taken for another path that has their hash', () => {
    for (const [known, other] of pairs) {
      const table = tableOf({ routes: [aRoute('known', { path: known }), aRoute('prefix', { pathPrefix: known })] });
      expect(winner(table, { target: known })).to.equal('known');
      expect(winner(table, { target: other })).to.equal(undefined);
      expect(winner(table, { target: `${other}/x` })).to.equal(undefined);
    }
  });

  it('win however many segments they have, the longest first', () => {
    const ofLength = (segments: number): string => '/a'.repeat(segments);
    const lengths = [1, 29, 30, 31, 32, 60];
    const table = tableOf({
      routes: [
        ...lengths.map((segments) => aRoute(`under ${segments}`, { pathPrefix: ofLength(segments) })),
        aRoute('exactly 31', { path: ofLength(31) }),
      ],
    });
    for (let segments = 1; segments < 70; segments++) {
      const longest = lengths.findLast((each) => each <= segments);
      const expected = segments === 31 ? 'exactly 31' : `under ${longest}`;
      expect(winner(table, { target: ofLength(segments) }), String(segments)).to.equal(expected);
      expect(winner(table, { target: `${ofLength(segments)}b` }), `${segments}b`).to.equal(
        segments === 1 ? undefined : `under ${lengths.findLast((each) => each < segments)}`,
      );
    }
  });

  it('stay with their hosts', () => {
    const routes = ['a.test', '*.test', '*'].map((host) => aRoute(host, { hostnames: [host], pathPrefix: '/same' }));
    const table = tableOf({ routes: [...routes, aRoute('exact', { hostnames: ['b.test'], path: '/same' })] });
    const asked = ['a.test', 'b.test', 'x.a.test', 'other.org'].map((authority) =>
      winner(table, { authority, target: '/same' }),
    );
    expect(asked).to.deep.equal(['a.test', 'exact', '*.test', '*']);
  });
});
