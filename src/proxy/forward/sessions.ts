// The pin cookies of one request: what it carries, and what it is given because it carries none (contract.md §7.7). One
// session id serves both levels of balancing where they share a cookie name (architecture.md §6.31).

import type { FieldEdits } from '../fields/field-edits.ts';
import { editedLines } from '../fields/field-edits.ts';
import type { ExchangeRequest } from '../message/request.ts';
import type { HashSource } from '../upstream/balance/hash-key.ts';
import { cookieIn, newSession, pinCookie } from '../upstream/session/session-cookie.ts';

interface GivenSession {
  readonly name: string;
  readonly session: string;
  readonly ttlSeconds: number;
}

const none: readonly GivenSession[] = [];

export class Sessions implements HashSource {
  readonly #request: ExchangeRequest;
  #given: readonly GivenSession[] = none;

  constructor(request: ExchangeRequest) {
    this.#request = request;
  }

  clear(): void {
    this.#given = none;
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

  /** Empty when the request has no such cookie. */
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

  /** Empty when none was given under that name. */
  given(name: string): string {
    return this.#given.find((each) => each.name === name)?.session ?? '';
  }

  /** The response sets what was given. */
  setOn(edits: FieldEdits): void {
    for (const { name, session, ttlSeconds } of this.#given) {
      edits.append('Set-Cookie', pinCookie(name, session, ttlSeconds));
    }
  }

  #give(name: string, ttlSeconds: number): string {
    const session = newSession();
    this.#given = [...this.#given, { name, session, ttlSeconds }];
    return session;
  }
}
