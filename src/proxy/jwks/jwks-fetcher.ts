// Fetcher of the keys of jwt middlewares: once per process, in main, which sends them to all workers (contract.md
// §8.4). They are fetched when a configuration brings or changes the middleware or its destination, every five minutes,
// and when a token names a key that is not there. While a fetch fails the old keys go on counting, if they came from there:
// keys of another place serve until the first fetch has ended, and no longer.

import { requestTarget } from '../../model/canonical-path.ts';
import { jwtDefaults } from '../../model/defaults.ts';
import type { Destination } from '../../model/destination.ts';
import type { JwtConfig } from '../../model/middleware/jwt-options.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { refetchMsMin } from '../middleware/jwt/key-source.ts';
import { keysOfJwks } from '../middleware/jwt/verification-keys.ts';
import { durationMs } from '../parsed-duration.ts';
import { NameLookup } from '../upstream/name-lookup.ts';
import { type JwksLocation, requestJwks } from './jwks-request.ts';
import { fetchesKeys, keySetName, middlewareOf } from './key-set-name.ts';

export interface JwksFetcherOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** By name of the set, see keySetName; `document` is undefined when a fetch has failed. */
  readonly send: (name: string, document: string | undefined) => void;
  /** Drops the keys of a set that is no longer used: a later set of the same name must not find them. */
  readonly forget: (name: string) => void;
  /** Default: over the network. */
  readonly request?: RequestDocument;
}

type RequestDocument = (place: JwksLocation, signal: AbortSignal) => Promise<string>;

type SourceOptions = JwksFetcherOptions & { readonly request: RequestDocument };

const refreshMs = 5 * 60_000;
/** Time to keep a set that is no longer used: longer than requests of the configuration before take. */
const forgetMs = 60_000;

export class JwksFetcher {
  readonly #options: SourceOptions;
  readonly #sources = new Map<string, Source>();
  /** Sets that are no longer used, with the timer after which they are forgotten. */
  readonly #leaving = new Map<string, Cancel>();

  constructor(options: JwksFetcherOptions) {
    const { clock } = options;
    const tools = { clock, lookup: new NameLookup(clock).lookup };
    this.#options = { request: (place, signal) => requestJwks(place, signal, tools), ...options };
  }

  /** Takes up the configurations that are about to go into force. A middleware keeps its keys until others arrive. */
  follow(configurations: readonly Configuration[]): void {
    const followed = new Set<string>();
    for (const { middlewares, destinations } of configurations) {
      for (const middleware of middlewares) {
        const { jwt } = middleware;
        if (!fetchesKeys(middleware) || jwt === undefined) continue;
        const destination = destinations.find(({ id }) => id === jwt.jwksDestinationId);
        const name = keySetName(middleware, destination);
        followed.add(name);
        if (!this.#sources.has(name)) this.#add(name, jwt, destination);
      }
    }
    for (const [name, source] of this.#sources) {
      if (followed.has(name)) continue;
      this.#drop(name, source);
      // Exchanges of the configuration before may still request keys.
      this.#leaving.set(
        name,
        this.#options.clock.after(forgetMs, () => this.#forget(name)),
      );
    }
  }

  /** Fetches because a token names an unknown key. Always answered by `send`. */
  refetch(id: string): void {
    const source = this.#sources.get(id);
    if (source === undefined) this.#options.send(id, undefined);
    else source.refetch();
  }

  /** Passes the known keys to a worker that starts later. */
  repeat(send: (id: string, document: string | undefined) => void): void {
    for (const [id, source] of this.#sources) if (source.settled) send(id, source.document);
  }

  close(): void {
    for (const [id, source] of this.#sources) this.#drop(id, source);
    for (const cancel of this.#leaving.values()) cancel();
  }

  #add(name: string, jwt: JwtConfig, destination: Destination | undefined): void {
    const former = [...this.#sources].find(([other]) => middlewareOf(other) === middlewareOf(name))?.[1];
    if (this.#leaving.has(name)) this.#forget(name);
    const source = new Source(name, placeOf(jwt, destination), this.#options);
    this.#sources.set(name, source);
    if (former !== undefined) source.inherit(former);
    source.fetch();
  }

  #forget(name: string): void {
    this.#leaving.get(name)?.();
    this.#leaving.delete(name);
    this.#options.forget(name);
  }

  #drop(id: string, source: Source): void {
    this.#sources.delete(id);
    source.end();
  }
}

/** Returns the source of the keys; undefined when the destination is missing. */
function placeOf(jwt: JwtConfig, destination: Destination | undefined): JwksLocation | undefined {
  const timeoutMs = durationMs(jwt.jwksRetrievalTimeout, jwtDefaults.jwksRetrievalTimeout);
  return destination && { destination, path: requestTarget(jwt.jwksPath ?? '/'), timeoutMs };
}

/** Returns whether both mean the same document, from a server that is trusted alike. */
function isSameLocation(one: JwksLocation | undefined, other: JwksLocation | undefined): boolean {
  const text = (place: JwksLocation | undefined): string => {
    const { host, port, options } = place?.destination ?? {};
    return JSON.stringify([place?.path, host, port, options?.tls]);
  };
  return text(one) === text(other);
}

class Source {
  /** The last one that could be read; empty when there is none that counts. */
  document: string | undefined;
  /** The first fetch has ended. */
  settled = false;
  readonly #id: string;
  readonly #options: SourceOptions;
  readonly #place: JwksLocation | undefined;
  /** The document is of another place, whose word counts here no longer than it must. */
  #borrowed = false;
  /** Time of the last fetch that a token caused; a fetch of its own accord does not delay the next token. */
  #askedMs = Number.NEGATIVE_INFINITY;
  #under: AbortController | undefined;
  #cancel: Cancel = () => {};

  constructor(id: string, place: JwksLocation | undefined, options: SourceOptions) {
    this.#id = id;
    this.#place = place;
    this.#options = options;
  }

  /** Keys that count until its own are here. */
  inherit(former: Source): void {
    const { document } = former;
    if (document === undefined || document === '') return;
    this.#borrowed = former.#borrowed || !isSameLocation(former.#place, this.#place);
    this.document = document;
    this.settled = true;
    this.#options.send(this.#id, document);
  }

  refetch(): void {
    if (this.#under !== undefined) return;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#askedMs < refetchMsMin) {
      this.#options.send(this.#id, this.document);
      return;
    }
    this.#askedMs = nowMs;
    this.fetch();
  }

  end(): void {
    this.#cancel();
    this.#under?.abort();
    this.#under = undefined;
  }

  fetch(): void {
    const { clock, logger, request } = this.#options;
    this.end();
    this.#cancel = clock.after(refreshMs, () => this.fetch());
    const place = this.#place;
    if (place === undefined) {
      logger.warn(
        { middleware: middlewareOf(this.#id), reason: 'its destination does not exist' },
        'keys cannot be fetched',
      );
      this.#settle('');
      return;
    }
    const under = new AbortController();
    this.#under = under;
    const { timeoutMs } = place;
    const cancel = timeoutMs > 0 ? clock.after(timeoutMs, () => under.abort(new Error('takes too long'))) : () => {};
    const settle = (text: string | undefined, reason: string): void => {
      cancel();
      if (this.#under !== under) return;
      this.#under = undefined;
      const document = text !== undefined && keysOfJwks(text) !== undefined ? text : undefined;
      if (document === undefined)
        logger.warn(
          { middleware: middlewareOf(this.#id), reason: reason || 'is no JWKS document' },
          'keys cannot be fetched',
        );
      this.#settle(document);
    };
    request(place, under.signal).then(
      (text) => settle(text, ''),
      (error: unknown) => settle(undefined, error instanceof Error ? error.message : String(error)),
    );
  }

  /** Undefined: a fetch has failed. */
  #settle(fetched: string | undefined): void {
    const document = fetched ?? (this.#borrowed ? '' : undefined);
    this.#borrowed = false;
    this.document = document ?? this.document;
    this.settled = true;
    this.#options.send(this.#id, document);
  }
}
