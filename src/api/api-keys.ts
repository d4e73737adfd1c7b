// API keys: who a request comes from (contract.md §3.2). Keys of the settings are compared by their digests, all of them
// every time, so that neither content nor position of a match shows in the time it takes (security.md S21). Keys of the cluster
// are random, and looked up by their digests.
import { createHash, timingSafeEqual } from 'node:crypto';
import { SluiceError } from '../errors.ts';
import { type ManagedKeys, noManagedKeys } from '../model/managed-keys.ts';
import { anonymousAdmin, type Caller } from '../resources/caller.ts';
import type { ApiKey } from '../settings/auth-settings.ts';

/** Holder of a key, and the key of the cluster that it is; undefined for one of the settings. */
export interface Admitted {
  readonly caller: Caller;
  readonly keyId: string | undefined;
}

/** Key as it is listed: without itself. */
export interface ShownKey extends Caller {
  readonly id: string | null;
  readonly createdAt: number | null;
  readonly createdBy: string | null;
  /** Unix milliseconds, as this node has seen it since its start; null: not since. */
  readonly lastUsedAt: number | null;
}

interface ApiKeysOptions {
  readonly keys: readonly ApiKey[];
  /** API keys of the cluster. Default: none. */
  readonly managed?: () => ManagedKeys;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

export class ApiKeys {
  readonly #holders: readonly { readonly digest: Buffer; readonly caller: Caller }[];
  readonly #managed: () => ManagedKeys;
  readonly #nowMs: () => number;
  /** Times of the last uses, by id of a key of the cluster, or by caller of one of the settings. */
  readonly #uses = new Map<string | Caller, number>();
  #index = 0;
  #byDigest: ReadonlyMap<string, Admitted> = new Map();

  constructor({ keys, managed = () => noManagedKeys, nowMs }: ApiKeysOptions) {
    this.#holders = keys.map(({ name, key, role }) => ({ digest: digestOf(key), caller: { name, role } }));
    this.#managed = managed;
    this.#nowMs = nowMs;
  }

  /** True where the settings have no keys: every caller is an admin, and keys of the cluster decide nothing. */
  get isOpen(): boolean {
    return this.#holders.length === 0;
  }

  /**
   * Returns the holder of the key in an `Authorization` header; the anonymous admin when no keys are configured. `lines`: the
   * number of these headers: of two keys an intermediary may have read the other. Throws UNAUTHENTICATED.
   */
  callerOf(authorization: string | undefined, lines = 1): Admitted {
    if (this.isOpen) return anonymous;
    if (lines > 1) throw refused('more than one authorization header');
    if (authorization === undefined) throw refused('missing authorization header');
    const [scheme] = bearer.exec(authorization) ?? [];
    if (scheme === undefined) throw refused('authorization header must use Bearer scheme');
    const digest = digestOf(authorization.slice(scheme.length));
    const matches = this.#holders.filter((holder) => timingSafeEqual(holder.digest, digest));
    const [holder] = matches;
    const admitted =
      holder === undefined ? this.#current().get(digest.toString('hex')) : { caller: holder.caller, keyId: undefined };
    if (admitted === undefined) throw refused('invalid API key');
    this.#uses.set(admitted.keyId ?? admitted.caller, this.#nowMs());
    return admitted;
  }

  /** Keys of the settings in their order, then those of the cluster in the order in which they were made. */
  list(): readonly ShownKey[] {
    const lastUsedAt = (of: string | Caller): number | null => this.#uses.get(of) ?? null;
    return [
      ...this.#holders.map(({ caller }) => ({
        ...{ id: null, ...caller, createdAt: null, createdBy: null },
        lastUsedAt: lastUsedAt(caller),
      })),
      ...this.#managed().keys.map(({ digest: _, ...key }) => ({ ...key, lastUsedAt: lastUsedAt(key.id) })),
    ];
  }

  /** Returns whether a key of the cluster still counts. */
  counts(keyId: string): boolean {
    return this.#managed().keys.some(({ id }) => id === keyId);
  }

  #current(): ReadonlyMap<string, Admitted> {
    const { index, keys } = this.#managed();
    if (index === this.#index) return this.#byDigest;
    this.#index = index;
    this.#byDigest = new Map(keys.map(({ id, name, role, digest }) => [digest, { caller: { name, role }, keyId: id }]));
    const ids = new Set(keys.map(({ id }) => id));
    for (const of of this.#uses.keys()) if (typeof of === 'string' && !ids.has(of)) this.#uses.delete(of);
    return this.#byDigest;
  }
}

const anonymous: Admitted = { caller: anonymousAdmin, keyId: undefined };

/** Scheme `Bearer` in any case, with blanks behind it (RFC 9110 §11.1, §11.4). */
const bearer = /^bearer +/i;

const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();

const refused = (message: string): SluiceError =>
  new SluiceError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
