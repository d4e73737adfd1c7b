// The keys of every jwt middleware that has them fetched: once per process, by main, told to all workers (contract.md
// §8.4). They are fetched when a configuration brings or changes the middleware or its destination, every five minutes,
// and when a token names a key that is not there. While a fetch fails the old keys go on counting.
import type { Cancel, Clock } from '../../clock.ts';
import { jwtDefaults } from '../../model/defaults.ts';
import type { Destination } from '../../model/destination.ts';
import type { JwtConfig } from '../../model/middleware/jwt.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { durationMs } from '../duration.ts';
import { refetchMsMin } from '../middleware/jwt/key-source.ts';
import { keysOfJwks } from '../middleware/jwt/verification-keys.ts';
import { type JwksPlace, requestJwks } from './jwks-request.ts';

export interface JwksFetcherOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** By id of the middleware; `document` is undefined when a fetch has failed. */
  readonly tell: (id: string, document: string | undefined) => void;
  /** The middleware is gone: whoever comes back under its id must not find its keys. */
  readonly forget: (id: string) => void;
  /** Default: over the network. */
  readonly request?: (place: JwksPlace, signal: AbortSignal) => Promise<string>;
}

const refreshMs = 5 * 60_000;

export class JwksFetcher {
  readonly #options: JwksFetcherOptions;
  readonly #sources = new Map<string, Source>();

  constructor(options: JwksFetcherOptions) {
    this.#options = options;
  }

  /** The configuration that is going into force. */
  follow({ middlewares, destinations }: Configuration): void {
    const byId = new Map(destinations.map((destination) => [destination.id, destination]));
    const followed = new Set<string>();
    for (const { id, type, jwt } of middlewares) {
      if (type !== 'jwt' || jwt?.jwksPath === undefined) continue;
      followed.add(id);
      const source = this.#sources.get(id) ?? new Source(id, this.#options);
      this.#sources.set(id, source);
      source.follow(jwt, byId.get(jwt.jwksDestinationId ?? ''));
    }
    for (const [id, source] of this.#sources) {
      if (followed.has(id)) continue;
      this.#drop(id, source);
      this.#options.forget(id);
    }
  }

  /** A token names a key that is not there. Answered by `tell`, in any case. */
  ask(id: string): void {
    const source = this.#sources.get(id);
    if (source === undefined) this.#options.tell(id, undefined);
    else source.ask();
  }

  /** What a worker that comes later has missed. */
  repeat(tell: (id: string, document: string | undefined) => void): void {
    for (const [id, source] of this.#sources) if (source.settled) tell(id, source.document);
  }

  close(): void {
    for (const [id, source] of this.#sources) this.#drop(id, source);
  }

  #drop(id: string, source: Source): void {
    this.#sources.delete(id);
    source.end();
  }
}

class Source {
  /** The last one that could be read; empty when there is nobody to ask. */
  document: string | undefined;
  /** The first fetch has ended. */
  settled = false;
  readonly #id: string;
  readonly #options: JwksFetcherOptions;
  #place: JwksPlace | undefined;
  #content = '';
  #startedMs = Number.NEGATIVE_INFINITY;
  #under: AbortController | undefined;
  #cancel: Cancel = () => {};

  constructor(id: string, options: JwksFetcherOptions) {
    this.#id = id;
    this.#options = options;
  }

  follow(jwt: JwtConfig, destination: Destination | undefined): void {
    const content = JSON.stringify([jwt, destination]);
    if (content === this.#content) return;
    this.#content = content;
    this.end();
    this.#place =
      destination === undefined
        ? undefined
        : {
            destination,
            path: jwt.jwksPath ?? '/',
            timeoutMs: durationMs(jwt.jwksRetrievalTimeout, jwtDefaults.jwksRetrievalTimeout),
          };
    this.#fetch();
  }

  ask(): void {
    if (this.#under !== undefined) return;
    if (this.#options.clock.monotonicMs() - this.#startedMs >= refetchMsMin) this.#fetch();
    else this.#options.tell(this.#id, this.document);
  }

  end(): void {
    this.#cancel();
    this.#under?.abort();
    this.#under = undefined;
  }

  #fetch(): void {
    const { clock, logger, request = requestJwks } = this.#options;
    this.end();
    this.#startedMs = clock.monotonicMs();
    this.#cancel = clock.after(refreshMs, () => this.#fetch());
    const place = this.#place;
    if (place === undefined) {
      logger.warn({ middleware: this.#id, reason: 'its destination does not exist' }, 'keys cannot be fetched');
      this.#settle('');
      return;
    }
    const under = new AbortController();
    this.#under = under;
    const cancel = clock.after(place.timeoutMs, () => under.abort(new Error('takes too long')));
    const settle = (text: string | undefined, reason: string): void => {
      cancel();
      if (this.#under !== under) return;
      this.#under = undefined;
      const document = text !== undefined && keysOfJwks(text) !== undefined ? text : undefined;
      if (document === undefined)
        logger.warn({ middleware: this.#id, reason: reason || 'is no JWKS document' }, 'keys cannot be fetched');
      this.#settle(document);
    };
    request(place, under.signal).then(
      (text) => settle(text, ''),
      (error: unknown) => settle(undefined, error instanceof Error ? error.message : String(error)),
    );
  }

  #settle(document: string | undefined): void {
    this.document = document ?? this.document;
    this.settled = true;
    this.#options.tell(this.#id, document);
  }
}
