import { expect } from 'chai';
import { PlacedCookies } from '../../../../src/proxy/forward/placed-cookies.ts';
import type { SignedPlacement } from '../../../../src/proxy/upstream/session/opened-cookies.ts';
import type { SignedCookies } from '../../../../src/proxy/upstream/session/signed-cookies.ts';

const nowS = 100;
/** Seals a placement as its scope and mark, in plain. */
const cookies = {
  nowS,
  seal: (_: string, placements: readonly SignedPlacement[]) =>
    placements.map(({ high, low, mark }) => `${high}.${low}.${mark}`).join('_'),
} as unknown as SignedCookies;
const placement = (high: number, low: number, mark: number, endS = 160): SignedPlacement =>
  ({ high, low, mark, endS }) as SignedPlacement;

describe('signed cookies of a response', () => {
  it('carry one placement for each scope, the newest first', () => {
    const placed = new PlacedCookies();
    const others = [placement(1, 1, 5), placement(1, 2, 6), placement(2, 1, 7), placement(9, 9, 8, nowS)];
    placed.place(cookies, 'pin', placement(1, 1, 9), others);
    placed.place(cookies, 'pin', placement(3, 3, 4), []);
    expect(placed.lines().join()).to.match(/^pin=3\.3\.4_1\.1\.9_1\.2\.6_2\.1\.7;/);
    expect(placed.hasNew('pin', placement(3, 3, 0))).to.equal(true);
    expect(placed.hasNew('pin', placement(2, 2, 0))).to.equal(false);
    expect(placed.hasNew('other', placement(3, 3, 0))).to.equal(false);
  });

  it('have no new placement where one that the client brought is only sealed anew', () => {
    const placed = new PlacedCookies();
    const [kept, other] = [placement(1, 1, 5), placement(1, 2, 6)];
    placed.place(cookies, 'pin', kept, [other, kept]);
    expect(placed.hasNew('pin', kept), 'a failed attempt must not move this client').to.equal(false);
    placed.place(cookies, 'pin', placement(1, 2, 7), [other, kept]);
    expect([placed.hasNew('pin', kept), placed.hasNew('pin', other)]).to.deep.equal([false, true]);
    placed.place(cookies, 'pin', placement(1, 1, 8), [other, kept]);
    expect(placed.hasNew('pin', kept)).to.equal(true);
  });

  it('live as long as the placement that lives longest', () => {
    const ageOf = (...ends: readonly number[]) => {
      const placed = new PlacedCookies();
      for (const [at, endS] of ends.entries()) placed.place(cookies, 'pin', placement(at, at, 1, endS), []);
      return /Max-Age=(\d+)/.exec(placed.lines().join())?.[1];
    };
    expect([ageOf(160, 130), ageOf(160, 0), ageOf(100)]).to.deep.equal(['60', undefined, '1']);
  });
});
