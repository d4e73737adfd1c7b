// The order of stream routes, against a slow obvious model of layer4.md §2.
import { BlockList, isIPv6 } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import type { StreamRoute } from '../../../../src/model/stream-route.ts';
import { StreamTable } from '../../../../src/proxy/stream/stream-route-table.ts';
import { drain } from '../../../../src/util/time-slice.ts';

const labels = ['a', 'b', 'c'];
const hostName = fc
  .array(fc.constantFrom(...labels), { minLength: 1, maxLength: 3 })
  .map((parts) => `${parts.join('.')}.test`);
const pattern = fc.tuple(fc.constantFrom('', '*.', '**.'), hostName).map(([wildcard, name]) => `${wildcard}${name}`);
const address = fc.constantFrom('10.0.0.1', '10.0.0.2', '10.1.0.1', '192.0.2.1', '2001:db8::1', '2001:db8:1::1');
const range = fc.constantFrom(
  ...[
    '10.0.0.0/8',
    '10.0.0.0/24',
    '10.0.0.1',
    '0.0.0.0/0',
    '2001:db8::/32',
    '2001:db8::/64',
    '::/0',
    '::ffff:10.0.0.0/104',
  ],
);
const binding = fc.constantFrom('l', 'l/s', 'm', 'm/s');

const routesOf = fc
  .array(
    fc.record({
      listenerIds: fc.array(binding, { maxLength: 2 }),
      sni: fc.array(pattern, { maxLength: 2 }),
      clientCidrs: fc.array(range, { maxLength: 2 }),
    }),
    { maxLength: 12 },
  )
  .map((all): StreamRoute[] =>
    all.map((match, at) => ({
      id: `${99 - at}`,
      name: `n${String(at).padStart(2, '0')}`,
      match,
      forward: { destinations: [{ destinationId: 'd' }] },
    })),
  );

const holds = (text: string, client: string): boolean => {
  const [base = '', bits] = text.split('/');
  const mapped = /^::ffff:(.*)$/.exec(base)?.[1];
  const plain = mapped ?? base;
  if (isIPv6(plain) !== isIPv6(client)) return false;
  const list = new BlockList();
  const width = isIPv6(plain) ? 128 : 32;
  list.addSubnet(
    plain,
    bits === undefined ? width : Number(bits) - (mapped === undefined ? 0 : 96),
    isIPv6(plain) ? 'ipv6' : 'ipv4',
  );
  return list.check(client, isIPv6(client) ? 'ipv6' : 'ipv4');
};

const bitsOf = (text: string): number => {
  const [base = '', bits] = text.split('/');
  const less = base.startsWith('::ffff:') ? 96 : 0;
  return bits === undefined ? (isIPv6(base) ? 128 : 32) : Number(bits) - less;
};

interface Question {
  readonly section: string;
  readonly name: string;
  readonly client: string;
}

/** Rank of a route for a connection: how exact its name is, and how long its range. Undefined: it does not match. */
function rankOf(
  { match = {} }: StreamRoute,
  { section, name, client }: Question,
): readonly [number, number] | undefined {
  const { listenerIds = [], sni = [], clientCidrs = [] } = match;
  const isBound = listenerIds.length === 0 || listenerIds.includes('l') || listenerIds.includes(`l/${section}`);
  if (!isBound) return undefined;
  const wild = `*.${name.split('.').slice(1).join('.')}`;
  const suffixes = sni.flatMap((text) => (text.startsWith('**.') && name.endsWith(text.slice(2)) ? [text.length] : []));
  const longest = suffixes.length === 0 ? -1 : Math.max(...suffixes);
  const exactness =
    sni.length === 0 ? 0 : sni.includes(name) ? 2_000 : name !== '' && sni.includes(wild) ? 1_000 : longest;
  const ranges = clientCidrs.filter((each) => holds(each, client)).map(bitsOf);
  if (exactness < 0 || (clientCidrs.length > 0 && ranges.length === 0)) return undefined;
  return [exactness, clientCidrs.length === 0 ? -1 : Math.max(...ranges)];
}

describe('the order of stream routes', () => {
  it('is by name, then by range, then by the name of the route, as a slow model has it', () => {
    fc.assert(
      fc.property(
        routesOf,
        fc.option(hostName, { nil: '' }),
        address,
        fc.constantFrom('s', 't'),
        (routes, name, client, section) => {
          const configuration = {
            listeners: [],
            destinations: [],
            routes: [],
            groups: [],
            middlewares: [],
            streamRoutes: routes,
          };
          const { table } = drain(StreamTable.of(configuration as Configuration, undefined));
          const question = { section, name, client };
          const ranked = routes
            .map((route) => ({ route, rank: rankOf(route, question) }))
            .filter(({ rank }) => rank !== undefined)
            .sort((a, b) => {
              const [[ea = 0, ba = 0] = [], [eb = 0, bb = 0] = []] = [a.rank, b.rank];
              return eb - ea || bb - ba || (a.route.name < b.route.name ? -1 : 1);
            });
          const served = {
            listener: { id: 'l', name: 'l', port: 1n, section },
            ofListener: 'l',
            ofSection: `l/${section}`,
            isServed: true,
          };
          expect(table.find(served, name, client)?.name).to.equal(ranked[0]?.route.name);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('costs a few probes among 20,000 routes', () => {
    const routes = Array.from(
      { length: 20_000 },
      (_, at): StreamRoute => ({
        id: `r${at}`,
        name: `r${at}`,
        match: { sni: [`h${at}.test`], clientCidrs: ['10.0.0.0/8'] },
        forward: { destinations: [{ destinationId: 'd' }] },
      }),
    );
    const configuration = {
      listeners: [],
      destinations: [],
      routes: [],
      groups: [],
      middlewares: [],
      streamRoutes: routes,
    };
    const { table } = drain(StreamTable.of(configuration as Configuration, undefined));
    const served = {
      listener: { id: 'l', name: 'l', port: 1n, section: '' },
      ofListener: 'l',
      ofSection: '',
      isServed: true,
    };
    expect(table.find(served, 'h19999.test', '10.1.2.3')?.id).to.equal('r19999');
    expect(table.find(served, 'h19999.test', '11.1.2.3')).to.equal(undefined);
    expect(table.find({ ...served, isServed: false }, 'h1.test', '10.1.2.3')).to.equal(undefined);
  });
});
