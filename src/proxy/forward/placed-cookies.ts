// Signed cookies that a response is going to set: the placements of one request, by the name of the cookie.

import type { CookieScope, SignedPlacement } from '../upstream/session/opened-cookies.ts';
import { pinCookie } from '../upstream/session/session-cookie.ts';
import { type SignedCookies, signedPlacementsMax } from '../upstream/session/signed-cookies.ts';

interface PlacedCookie {
  readonly cookies: SignedCookies;
  readonly name: string;
  /** The newest first. */
  readonly placements: readonly SignedPlacement[];
  /** Placements that the client brought: one that is sealed anew is no new placement. */
  readonly brought: readonly SignedPlacement[];
}

export class PlacedCookies {
  #placed: readonly PlacedCookie[] = [];

  get isEmpty(): boolean {
    return this.#placed.length === 0;
  }

  clear(): void {
    if (!this.isEmpty) this.#placed = [];
  }

  /** Adds a placement to the cookie of that name, in place of the one of its scope. `others`: those that the client brought. */
  place(cookies: SignedCookies, name: string, placement: SignedPlacement, others: readonly SignedPlacement[]): void {
    const known = this.#placed.find((each) => each.name === name);
    const before = known?.placements ?? others;
    const { nowS } = cookies;
    const left = before.filter((each) => !isSame(each, placement) && (each.endS === 0 || each.endS > nowS));
    const placements = [placement, ...left].slice(0, signedPlacementsMax);
    this.#placed = [
      ...this.#placed.filter((each) => each.name !== name),
      { cookies, name, placements, brought: known?.brought ?? others },
    ];
  }

  /** Returns whether the client gets a placement of that scope which it did not bring. */
  hasNew(name: string, scope: CookieScope): boolean {
    const { placements = [], brought = [] } = this.#placed.find((each) => each.name === name) ?? {};
    return placements.some((one) => isSame(one, scope) && !brought.includes(one));
  }

  /** Values of Set-Cookie. */
  lines(): readonly string[] {
    return this.#placed.flatMap(({ cookies, name, placements }) => {
      const endS = placements.some((each) => each.endS === 0) ? 0 : Math.max(...placements.map((each) => each.endS));
      const ageS = endS === 0 ? 0 : Math.max(1, endS - cookies.nowS);
      const value = cookies.seal(name, placements);
      // The keys may have gone meanwhile, with a control plane of another cluster.
      return value === '' ? [] : [pinCookie(name, value, ageS)];
    });
  }
}

const isSame = (one: CookieScope, other: CookieScope): boolean => one.high === other.high && one.low === other.low;
