// Configuration of a proxy, and the source it comes from. The feed makes it, the proxy takes it; neither knows the
// other.

import type { configClasses } from './config-classes.ts';
import type { CookieKeys } from './cookie-keys.ts';
import type { Drains } from './drained-endpoint.ts';
import type { ConfigKind, OptionalKind } from './kinds.ts';

type Lists = { readonly [K in ConfigKind]: readonly InstanceType<(typeof configClasses)[K]>[] };

/**
 * A list per kind, each ascending by id; an optional kind without a list has no entities. No secrets list: resolved
 * values stand inside the entities (contract.md §2.9).
 */
export type Configuration = Omit<Lists, OptionalKind> & Partial<Pick<Lists, OptionalKind>>;

/** Returns the entities of that kind. */
export const listOf = <K extends ConfigKind>(configuration: Configuration, kind: K): Lists[K] =>
  (configuration as Partial<Lists>)[kind] ?? (nothing as unknown as Lists[K]);

const nothing: readonly never[] = [];

/** An activated snapshot with every reference resolved. */
export interface ProxyConfig {
  /** Log index of the activation. A proxy never installs a lower one than it has (architecture.md §6.13). */
  readonly index: number;
  /**
   * Place in the order of what one source gives, where the index alone does not tell it: indexes of another cluster
   * begin anew. Default: the index.
   */
  readonly order?: number;
  readonly id: string;
  readonly name: string;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  readonly snapshot: Configuration;
  /**
   * JSON of the entity at that place of `snapshot`, where its text is known: spares the caller from serializing it
   * again.
   */
  readonly textOf?: (kind: ConfigKind, place: number) => string | undefined;
  /** JSON pointers of strings that came from secrets: `/snapshot/listeners/0/tls/key`. Absent: unknown. */
  readonly secrets?: readonly string[];
  /** `configDigest` of `snapshot`, where it is known. */
  readonly sha256?: string;
  /** Trace context of the write that made it live, as a `traceparent`; absent when the write is not traced. */
  readonly trace?: string;
}

/** The configuration that a rollout tries out beside the active one (fleet.md §7). */
export interface Candidate {
  /** Id of the rollout, and the seed of the choice: a request belongs to the candidate when hash(seed, key value) < share. */
  readonly rollout: string;
  /** Log index of the command behind this step. */
  readonly index: number;
  /** Log index at which the rollout began, as far as the source knows. */
  readonly since: number;
  /** Percent of the clients of each proxy, or of the proxies; 0 where only `labels` choose. */
  readonly share: number;
  /** One in so many requests that stable serves is matched against it too. Absent: none. */
  readonly shadowSample?: number;
  /** Whole proxies that have all labels of one of these sets; absent where the share alone chooses. */
  readonly labels?: readonly Readonly<Record<string, string>>[];
  readonly by: 'client' | 'proxy';
  readonly key: { readonly clientIp: true } | { readonly header: string } | { readonly cookie: string };
  /** Without contact for so long a proxy serves the active configuration alone. */
  readonly deadmanMs: number;
  readonly config: ProxyConfig;
}

/** Facts beside the configuration. */
interface Subscribable<T> {
  subscribe(subscriber: (news: T) => void): () => void;
}

export interface ConfigSource {
  /**
   * Calls `subscriber` with the current configuration at once, if there is one, and with each later one.
   * The last value wins: intermediate ones may be skipped. Returns the end of the subscription.
   */
  subscribe(subscriber: (config: ProxyConfig) => void): () => void;
  /**
   * The same for the candidate: undefined when there is none, which ends the one before. Sources that never have one
   * lack this. A candidate that becomes active comes as an activation first and is withdrawn then.
   */
  subscribeCandidate?(subscriber: (candidate: Candidate | undefined) => void): () => void;
  /** The same for drained endpoints. Sources that know of none lack this. */
  readonly drains?: Subscribable<Drains>;
  /** The same for keys of signed session cookies. */
  readonly cookieKeys?: Subscribable<CookieKeys>;
}
