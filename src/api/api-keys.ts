// API keys: who a request comes from (contract.md §3.2). Keys are compared by their digests, all of them every time, so
// that neither content nor position of a match shows in the time it takes (security.md S21).
import { createHash, timingSafeEqual } from 'node:crypto';
import { SluiceError } from '../errors.ts';
import { anonymousAdmin, type Caller } from '../resources/caller.ts';
import type { ApiKey } from '../settings/auth-settings.ts';

export class ApiKeys {
  readonly #holders: readonly { readonly digest: Buffer; readonly caller: Caller }[];

  constructor(keys: readonly ApiKey[]) {
    this.#holders = keys.map(({ name, key, role }) => ({ digest: digestOf(key), caller: { name, role } }));
  }

  /**
   * Returns the holder of the key in an `Authorization` header; the anonymous admin when no keys are configured. `lines`: the
   * number of these headers: of two keys an intermediary may have read the other. Throws UNAUTHENTICATED.
   */
  callerOf(authorization: string | undefined, lines = 1): Caller {
    if (this.#holders.length === 0) return anonymousAdmin;
    if (lines > 1) throw refused('more than one authorization header');
    if (authorization === undefined) throw refused('missing authorization header');
    const [scheme] = bearer.exec(authorization) ?? [];
    if (scheme === undefined) throw refused('authorization header must use Bearer scheme');
    const digest = digestOf(authorization.slice(scheme.length));
    const matches = this.#holders.filter((holder) => timingSafeEqual(holder.digest, digest));
    const [holder] = matches;
    if (holder === undefined) throw refused('invalid API key');
    return holder.caller;
  }
}

/** Scheme `Bearer` in any case, with blanks behind it (RFC 9110 §11.1, §11.4). */
const bearer = /^bearer +/i;

const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();

const refused = (message: string): SluiceError =>
  new SluiceError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
