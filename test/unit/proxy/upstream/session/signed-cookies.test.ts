import { expect } from 'chai';
import fc from 'fast-check';
import type { Sessions } from '../../../../../src/proxy/forward/sessions.ts';
import { placeOn } from '../../../../../src/proxy/forward/signed-placement.ts';
import { CookieRing } from '../../../../../src/proxy/shared/cookie-ring.ts';
import type { SignedPlacement } from '../../../../../src/proxy/upstream/session/opened-cookies.ts';
import { SignedCookies, signedPlacementsMax } from '../../../../../src/proxy/upstream/session/signed-cookies.ts';
import { cookieKeysAfter } from '../../../../support/cookie-rings.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const cookiesAfter = (made: number, cluster = 0) => {
  const ring = new CookieRing();
  ring.write(cookieKeysAfter(made, cluster).keys);
  const cookies = new SignedCookies(ring, new ManualClock());
  expect(cookies.isKeyed).to.equal(made > 0);
  return { ring, cookies };
};

const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const placement = fc.record({ high: int, low: int, mark: int, endS: fc.nat(2 ** 32 - 1) });
const placements = fc.array(placement, { minLength: 1, maxLength: signedPlacementsMax });
const name = fc.stringMatching(/^[a-z_]{1,20}$/);
const one: readonly SignedPlacement[] = [{ high: 1, low: -2, mark: 3, endS: 4 }];

describe('signed cookies', () => {
  it('give back the placements that were sealed, in every process with the same keys, as often as they are opened', () => {
    const writer = cookiesAfter(3).cookies;
    const reader = cookiesAfter(3).cookies;
    fc.assert(
      fc.property(name, placements, (cookie, list) => {
        const value = writer.seal(cookie, list);
        expect(value).to.match(/^[A-Za-z0-9_-]+$/);
        for (const _ of [1, 2]) expect(reader.open(cookie, value)).to.deep.include({ placements: list });
      }),
      { numRuns: 200 },
    );
  });

  it('hold a placement whose ttl is the longest duration there is, until the latest end that they can tell', () => {
    const { cookies } = cookiesAfter(2);
    const placed: SignedPlacement[] = [];
    const sessions = { place: (_cookies: SignedCookies, _name: string, each: SignedPlacement) => placed.push(each) };
    const place = (ttlSeconds: number) =>
      placeOn(
        cookies,
        sessions as unknown as Sessions,
        { scope: { high: 1, low: 2 }, name: 's', ttlSeconds },
        'target',
      );
    for (const ttlSeconds of [0, 60, 292 * 365 * 86_400]) place(ttlSeconds);
    expect(placed.map(({ endS }) => endS)).to.deep.equal([0, cookies.nowS + 60, 2 ** 32 - 1]);
    expect(cookies.open('s', cookies.seal('s', placed))).to.deep.include({ placements: placed });
  });

  it('are none once any character is changed, added or left out, and under any other name', () => {
    const { cookies } = cookiesAfter(2);
    const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ ~';
    const refused = ['forged', 'stale'];
    fc.assert(
      fc.property(placements, fc.nat(), fc.constantFrom(...characters), (list, at, character) => {
        const value = cookies.seal('s', list);
        const place = at % value.length;
        const changed = value.slice(0, place) + character + value.slice(place + 1);
        if (changed !== value) expect(cookies.open('s', changed)).to.be.oneOf(refused);
        expect(cookies.open('s', value.slice(0, place) + character + value.slice(place))).to.be.oneOf(refused);
        expect(cookies.open('s', value.slice(0, place))).to.be.oneOf(refused);
        expect(cookies.open('other', value)).to.equal('forged');
        cookies.open('s', value);
        expect(cookies.open('other', value), 'known under its own name').to.equal('forged');
      }),
      { numRuns: 300 },
    );
  });

  it('are refused for any text, and the id of an unsigned session is told apart', () => {
    const { cookies } = cookiesAfter(1);
    fc.assert(fc.property(fc.string({ maxLength: 400 }), (text) => typeof cookies.open('s', text) === 'string'));
    expect(cookies.open('s', '0123456789abcdef0123456789abcdef')).to.equal('unsigned');
    expect(cookies.open('s', '0123456789ABCDEF0123456789abcdef')).to.equal('forged');
  });

  it('reveal neither target nor scope, and two of the same placements differ', () => {
    const { cookies } = cookiesAfter(1);
    const values = Array.from({ length: 50 }, () => cookies.seal('s', one));
    expect(new Set(values.map((value) => value.slice(8))).size).to.equal(50);
    expect(new Set(values.map((value) => value.length)).size).to.equal(1);
  });

  it('of another cluster are stale: their key is not known', () => {
    expect(cookiesAfter(2).cookies.open('s', cookiesAfter(2, 1).cookies.seal('s', one))).to.equal('stale');
  });

  // A proxy that has not heard of the newest key opens what the others seal, and the other way round.
  it('of a proxy that is one key behind or ahead are opened', () => {
    for (let made = 1; made < 12; made++) {
      const [behind, ahead] = [cookiesAfter(made).cookies, cookiesAfter(made + 1).cookies];
      expect(behind.open('s', ahead.seal('s', one)), `after ${made}`).to.deep.include({ placements: one });
      expect(ahead.open('s', behind.seal('s', one)), `after ${made}`).to.deep.include({ placements: one });
    }
  });

  it('are opened over six rotations and sealed anew from the second on, and are stale afterwards', () => {
    const { ring, cookies } = cookiesAfter(2);
    const value = cookies.seal('s', one);
    const seen: unknown[] = [];
    for (let made = 2; made <= 10; made++) {
      ring.write(cookieKeysAfter(made).keys);
      expect(cookies.isKeyed).to.equal(true);
      const opened = cookies.open('s', value);
      seen.push(typeof opened === 'string' ? opened : opened.isAged);
    }
    expect(seen).to.deep.equal([false, true, true, true, true, true, true, 'stale', 'stale']);
  });

  it('that were opened are kept up to a bound, however many there are', () => {
    const { cookies } = cookiesAfter(1);
    const values = Array.from({ length: 9_000 }, (_, at) =>
      cookies.seal('s', [{ high: at, low: 0, mark: 1, endS: 0 }]),
    );
    for (const value of values) cookies.open('s', value);
    expect(cookies.cached).to.be.at.most(2 * 4_096);
    const opened = cookies.open('s', values[0] ?? '');
    expect(opened).to.have.nested.property('placements[0].high', 0);
  });
});

describe('CookieRing', () => {
  it('gives threads the keys as they are, and its counts', () => {
    const ring = new CookieRing();
    const other = new CookieRing(ring.buffer);
    expect(other.read()).to.deep.equal({ version: 0, keys: [] });
    const { keys } = cookieKeysAfter(9);
    ring.write(keys);
    expect(other.read()?.keys.map((key) => key.toString('base64'))).to.deep.equal(keys.map(({ key }) => key));
    expect(other.version).to.equal(2);
    other.count('kept');
    ring.count('kept');
    expect(ring.counts()).to.deep.include({ kept: 2, forged: 0 });
  });
});
