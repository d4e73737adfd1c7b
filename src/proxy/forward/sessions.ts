// Pin cookies of one request: those it carries, and those it gets because it carries none (contract.md §7.7). One
// session id serves both levels of balancing where they share a cookie name (architecture.md §6.31).

import type { FieldEdits } from '../fields/field-edits.ts';
import { editedLines } from '../fields/field-edits.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { HashSource } from '../upstream/balance/hash-key.ts';
import type { CookieScope, SignedPlacement } from '../upstream/session/opened-cookies.ts';
import { cookieIn, newSession, pinCookie } from '../upstream/session/session-cookie.ts';
import type { SignedCookies } from '../upstream/session/signed-cookies.ts';
import { PlacedCookies } from './placed-cookies.ts';

interface GivenSession {
  readonly name: string;
  readonly session: string;
  readonly ttlSeconds: number;
}

const none: readonly GivenSession[] = [];

export class Sessions implements HashSource {
  readonly #request: ExchangeRequest;
  #given: readonly GivenSession[] = none;
  readonly #placed = new PlacedCookies();

  constructor(request: ExchangeRequest) {
    this.#request = request;
  }

  clear(): void {
    this.#given = none;
    this.#placed.clear();
  }

  header(lowerName: string): string | undefined {
    return this.#request.header(lowerName);
  }

  get clientIp(): string {
    return this.#request.clientIp;
  }

  session(name: string, ttlSeconds: number): string {
    return this.carried(name) || this.given(name) || this.#give(name, ttlSeconds);
  }

  /** Returns the value of the cookie; empty when the request has none. */
  carried(name: string): string {
    const { lines, edits } = this.#request;
    if (edits.empty) {
      for (let i = 0; i < lines.count; i++) {
        if (lines.name(i).toLowerCase() !== 'cookie') continue;
        const value = cookieIn(lines.value(i), name);
        if (value !== '') return value;
      }
      return '';
    }
    for (const [lower, , line] of editedLines(lines, edits)) {
      const value = lower === 'cookie' ? cookieIn(line, name) : '';
      if (value !== '') return value;
    }
    return '';
  }

  /** Returns the new session under that name; empty when there is none. */
  given(name: string): string {
    return this.#given.find((each) => each.name === name)?.session ?? '';
  }

  /** Adds a placement to the signed cookie of the response. `others`: those that the request carries. */
  place(cookies: SignedCookies, name: string, placement: SignedPlacement, others: readonly SignedPlacement[]): void {
    this.#placed.place(cookies, name, placement, others);
  }

  /** Returns whether the response is going to set a signed cookie with a new placement of that scope. */
  isPlaced(name: string, scope: CookieScope): boolean {
    return this.#placed.hasNew(name, scope);
  }

  /** Adds Set-Cookie for new sessions and placements to the response. */
  setOn(edits: FieldEdits): void {
    for (const { name, session, ttlSeconds } of this.#given) {
      edits.append('Set-Cookie', pinCookie(name, session, ttlSeconds));
    }
    if (this.#placed.isEmpty) return;
    for (const line of this.#placed.lines()) edits.append('Set-Cookie', line);
  }

  /** Returns the same as names and values in turn. */
  fields(): readonly string[] {
    const given = this.#given.map(({ name, session, ttlSeconds }) => pinCookie(name, session, ttlSeconds));
    return [...given, ...this.#placed.lines()].flatMap((line) => ['Set-Cookie', line]);
  }

  #give(name: string, ttlSeconds: number): string {
    const session = newSession();
    this.#given = [...this.#given, { name, session, ttlSeconds }];
    return session;
  }
}
