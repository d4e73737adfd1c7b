import { expect } from 'chai';
import { hashSeed, hashStep } from '../../../../src/proxy/match/hash-slots.ts';
import { seededRandom } from '../../../support/random.ts';
import { aRoute, tableOf, winner } from '../../../support/routing.ts';

/** As the index hashes a path for the first host of a table. */
function hashOf(text: string): number {
  let hash = hashSeed(0);
  for (const character of text) hash = hashStep(hash, character.charCodeAt(0));
  return hash;
}

/** Pairs of paths that share a hash, found by trying many. */
function collisions(): (readonly [string, string])[] {
  const random = seededRandom(5);
  const known = new Map<number, string>();
  const pairs: (readonly [string, string])[] = [];
  while (pairs.length < 3) {
    const path = `/${Math.floor(random() * 36 ** 6).toString(36)}`;
    const hash = hashOf(path);
    const other = known.get(hash);
    if (other === undefined) known.set(hash, path);
    else if (other !== path) pairs.push([other, path]);
  }
  return pairs;
}

describe('exact paths and prefixes in the index', () => {
  const pairs = collisions();

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
