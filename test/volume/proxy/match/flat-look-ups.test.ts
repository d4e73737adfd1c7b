// Work of a look-up in a large table with sections and priorities, counted: characters that are read and matchers that
// are asked, which do not depend on the machine.
import { expect } from 'chai';
import type { Route } from '../../../../src/model/route.ts';
import { ServedListener } from '../../../../src/proxy/match/served-listener.ts';
import type { RoutedRequest } from '../../../../src/proxy/message/routed-request.ts';
import { TestRequest } from '../../../support/routed-request.ts';
import { aRoute, tableOf } from '../../../support/routing.ts';

const sectionCount = 100;
const padded = (i: number): string => String(i).padStart(6, '0');
const hostOf = (section: number): string => `section-${padded(section)}.test`;

const web = new ServedListener({
  ...{ id: 'web', name: 'web', port: 443 },
  sections: Array.from({ length: sectionCount }, (_, at) => ({ name: `s${at}`, hostnames: [hostOf(at)] })),
});

/** Every priority is another one; each hundredth path is that of a route in every section. */
const routeOf = (i: number): Route => {
  const path = i % 10_000 < sectionCount ? '/shared-000000/api' : `/service-${padded(i)}/api`;
  const match = { pathPrefix: path, methods: ['GET'] };
  return aRoute(`r${padded(i)}`, match, { listenerIds: [`web/s${i % sectionCount}`], priority: i + 1 });
};

/** A text that counts how often one of its characters is read. */
function counted(text: string, count: () => void): string {
  const read = (at: number): number => {
    count();
    return text.charCodeAt(at);
  };
  return { length: text.length, charCodeAt: read } as unknown as string;
}

/** Returns the winner, and how many characters were read and matchers asked for it. */
function workOf(table: ReturnType<typeof tableOf>, section: number, path: string) {
  const work = { winner: '', characters: 0, matchers: 0 };
  const sent = new TestRequest({ authority: hostOf(section), target: path, listener: web });
  const request: RoutedRequest = Object.create(sent, {
    host: { value: counted(sent.host, () => work.characters++) },
    path: { value: counted(sent.path, () => work.characters++) },
    method: {
      get: () => {
        work.matchers++;
        return 'GET';
      },
    },
  });
  work.winner = table.match(request)?.route.id ?? '';
  return work;
}

describe('a look-up among 100,000 routes in 100 sections with 100,000 priorities', () => {
  const size = 100_000;
  const few = tableOf({ routes: Array.from({ length: 10 }, (_, i) => routeOf(size / 2 + 500 + i)) });
  let many: ReturnType<typeof tableOf>;
  before(() => {
    many = tableOf({ routes: Array.from({ length: size }, (_, i) => routeOf(i)) });
  });

  it('reads at most 1.5 times what one among ten routes does', () => {
    const path = (i: number): string => `/service-${padded(i)}/api/orders`;
    const baseline = workOf(few, 5, path(size / 2 + 505));
    expect(baseline).to.include({ winner: `r${padded(size / 2 + 505)}`, matchers: 1 });
    for (const i of [505, 777, 12_345, 50_505, 99_999]) {
      const { winner, characters, matchers } = workOf(many, i % sectionCount, path(i));
      expect(winner).to.equal(`r${padded(i)}`);
      expect(characters, path(i)).to.be.at.most(baseline.characters * 1.5);
      expect(matchers).to.equal(1);
    }
    const missed = workOf(many, 7, '/nothing-000000/api/orders');
    expect(missed.winner).to.equal('');
    expect(missed.characters).to.be.at.most(baseline.characters * 1.5);
  });

  it('asks no route of another section with the same path', () => {
    const { winner, matchers } = workOf(many, 42, '/shared-000000/api/orders');
    expect([winner, matchers]).to.deep.equal(['r090042', 1]);
  });
});
