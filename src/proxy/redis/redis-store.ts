// Store of a worker in Redis, by ioredis: sticky sessions, and buckets of rate limits. It connects in the background, for
// ever; commands are pipelined on one connection. A late command makes the store doubtful: requests do not wait for it
// until it has answered. A command without any answer makes it down, and the connection is made anew.
import type { Redis } from 'ioredis';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import { hangingMs, type SessionStore, unknownSession, waitMsMax } from '../upstream/session/session-store.ts';
import {
  type LimitStore,
  type StoredBuckets,
  type StoredTake,
  storedBucketsOf,
  takeScript,
  takeScriptSha,
} from './limit-store.ts';

interface RedisOptions {
  readonly host: string;
  readonly port: number;
  readonly password?: string | undefined;
  /** A number that it does not have is a store that is down. */
  readonly db: number;
}

const connectMs = 500;
const reconnectMsMax = 1_000;

export class RedisStore implements SessionStore, LimitStore {
  #redis: Redis | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** `doubtful`: connected, but late. */
  #state: 'down' | 'up' | 'doubtful' = 'down';
  /**
   * True when it answers, but refuses writes: a replica, or one whose memory is full. A session that it does not have
   * is placed by hash.
   */
  #refusesWrites = false;
  /** True when it has refused the script of rate limits since it took one. */
  #refusesTakes = false;
  #closed = false;
  #reason = '';
  /** True once its failure has been logged. */
  #reported = false;

  readonly #onReach: (reached: boolean) => void;

  /** `onReach` gets the state of the connection, now and whenever it changes. */
  constructor(options: RedisOptions, clock: Clock, logger: Logger, onReach: (reached: boolean) => void = () => {}) {
    this.#clock = clock;
    this.#onReach = onReach;
    onReach(false);
    this.#logger = logger.child({ store: `${options.host}:${options.port}` });
    this.#open(options).catch((error: Error) =>
      this.#logger.error({ reason: error.message }, 'the client of Redis fails'),
    );
  }

  /** The client is loaded only where there is a store: it is large. */
  async #open({ host, port, password, db }: RedisOptions): Promise<void> {
    // By way of the default: a chunk of the build has no other name for what CommonJS exports.
    const { Redis } = (await import('ioredis')).default;
    if (this.#closed) return;
    const redis = new Redis({
      host,
      port,
      ...(password !== undefined && { password }),
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      commandTimeout: hangingMs,
      connectTimeout: connectMs,
      retryStrategy: (times) => Math.min(reconnectMsMax, 50 * 2 ** Math.min(times, 10)),
    });
    redis.on('error', (error: Error) => {
      this.#reason = error.message;
    });
    redis.on('ready', () => this.#choose(redis, db));
    redis.on('close', () => this.#markDown());
    this.#redis = redis;
    redis.connect().catch(() => {});
  }

  get up(): boolean {
    return this.#state === 'up';
  }

  get(key: string, answer: (value: string | undefined) => void): void {
    this.#ask(
      (redis) => redis.get(key).then((value) => value ?? (this.#refusesWrites ? undefined : unknownSession)),
      answer,
    );
  }

  take({ keys, cost, limits }: StoredTake, answer: (buckets: StoredBuckets | undefined) => void): void {
    const parameters = [...keys, cost, ...limits.flatMap(({ intervalUs, burst }) => [intervalUs, burst])];
    this.#ask(async (redis) => {
      try {
        const taken = await redis.evalsha(takeScriptSha, keys.length, ...parameters).catch((error: Error) => {
          // A server that was started anew does not know the script, which it keeps from then on.
          if (!error.message.startsWith('NOSCRIPT')) throw error;
          return redis.eval(takeScript, keys.length, ...parameters);
        });
        this.#refusesTakes = false;
        return storedBucketsOf(taken);
      } catch (error) {
        if (error instanceof Error && error.name === 'ReplyError') this.#refuseTake(error);
        throw error;
      }
    }, answer);
  }

  #refuseTake({ message }: Error): void {
    if (this.#refusesTakes) return;
    this.#refusesTakes = true;
    this.#logger.warn(
      { reason: message },
      'Redis refuses rate limits: they go by their failureMode until it takes them',
    );
  }

  /** Answers once: undefined when the server does not answer in time, at all, or refuses the command. */
  #ask<T>(command: (redis: Redis) => Promise<T | undefined>, answer: (value: T | undefined) => void): void {
    const redis = this.#redis;
    if (this.#state !== 'up' || redis === undefined) {
      answer(undefined);
      return;
    }
    let open = true;
    const settle = (value: T | undefined): void => {
      if (!open) return;
      open = false;
      cancel();
      answer(value);
    };
    const cancel = this.#clock.after(waitMsMax, () => {
      if (this.#state === 'up') this.#state = 'doubtful';
      settle(undefined);
    });
    command(redis).then(
      (value) => {
        this.#answered();
        settle(value);
      },
      (error: Error) => {
        this.#failed(error);
        settle(undefined);
      },
    );
  }

  set(key: string, value: string, ttlSeconds: number): void {
    if (this.#state === 'down' || this.#redis === undefined) return;
    this.#redis.set(key, value, 'EX', Math.max(1, ttlSeconds)).then(
      () => {
        this.#refusesWrites = false;
        this.#answered();
      },
      (error: Error) => {
        if (error.name === 'ReplyError') this.#refuse(error);
        this.#failed(error);
      },
    );
  }

  close(): void {
    this.#closed = true;
    this.#redis?.disconnect();
  }

  #answered(): void {
    if (this.#state === 'doubtful') this.#state = 'up';
  }

  /**
   * Handles a failed command. Redis may refuse a command and be well; an error of the client itself means that the
   * server does not answer.
   */
  #failed(error: Error): void {
    this.#reason = error.message;
    if (error.name === 'ReplyError') {
      this.#answered();
      return;
    }
    if (this.#state === 'down') return;
    this.#markDown();
    this.#redis?.disconnect(true);
  }

  /**
   * ioredis takes a database that is not there for chosen and goes on in the first one. Nothing is asked or kept before
   * this has succeeded; as long as the connection lasts it is tried again.
   */
  #choose(redis: Redis, db: number): void {
    // Every connection begins there, and a user may not be allowed to ask for it.
    if (db === 0) {
      this.#rise();
      return;
    }
    redis.select(db).then(
      () => this.#rise(),
      (error: Error) => {
        if (this.#closed || redis.status !== 'ready') return;
        this.#reason = `database ${db}: ${error.message}`;
        this.#markDown();
        if (error.name !== 'ReplyError') redis.disconnect(true);
        else this.#clock.after(reconnectMsMax, () => redis.status === 'ready' && this.#choose(redis, db));
      },
    );
  }

  #refuse({ message }: Error): void {
    if (this.#refusesWrites) return;
    this.#refusesWrites = true;
    this.#logger.warn({ reason: message }, 'Redis takes no writes: new sticky sessions stick by hash');
  }

  #rise(): void {
    this.#state = 'up';
    this.#refusesWrites = false;
    this.#onReach(true);
    this.#reported = false;
    this.#logger.info({}, 'Redis is connected');
  }

  #markDown(): void {
    this.#state = 'down';
    this.#onReach(false);
    if (this.#closed || this.#reported) return;
    this.#reported = true;
    this.#logger.warn(
      { reason: this.#reason },
      'Redis is down: sticky sessions stick by hash, rate limits go by their failureMode until it is back',
    );
  }
}
