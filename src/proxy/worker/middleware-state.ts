// State that the middlewares of all workers share and main keeps: the memory of rate limits, the keys of tokens, the
// files of access logs.

import { randomInt } from 'node:crypto';
import { isLeased, leasedLimits } from '../../model/limit-rates.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { Problem } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { LeaseFigures } from '../../telemetry/lease-metrics.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import type { LineBatch } from '../access-log/line-batches.ts';
import { LogFiles } from '../access-log/log-files.ts';
import type { LogPaths } from '../access-log/log-paths.ts';
import { JwksFetcher } from '../jwks/jwks-fetcher.ts';
import { type HeldLimit, LeaseHolder, type LeaseHolderOptions } from '../lease/lease-holder.ts';
import type { WantedLease } from '../lease/wanted-lease.ts';
import { BucketAllocator, type BucketBlocks } from '../shared/bucket-allocator.ts';

/** Sends keys by name of the set; undefined when they could not be fetched. */
type SendKeys = (name: string, document: string | undefined) => void;

/** Calls that pass keys on to the workers. */
export interface KeySubscriber {
  readonly send: SendKeys;
  readonly forget: (name: string) => void;
}

/** Way to the leader for limits that the cluster shares, and back to the workers. */
export type LeaseChannel = Pick<LeaseHolderOptions, 'report' | 'onSettled'>;

const logsWithinMs = 2_000;

const isLeasedLimiter = ({ type, rateLimit }: Middleware): boolean => type === 'rateLimit' && isLeased(rateLimit);

export class MiddlewareState {
  /** Random, so that no client can find out which addresses share a place. */
  readonly seed = randomInt(2 ** 31);
  readonly #buckets = new BucketAllocator();
  readonly #jwks: JwksFetcher;
  readonly #logs: LogFiles;
  readonly #leases: LeaseHolder;

  constructor(clock: Clock, logger: Logger, logPaths: LogPaths, subscriber: KeySubscriber, leases: LeaseChannel) {
    this.#leases = new LeaseHolder({ clock, ...leases });
    this.#jwks = new JwksFetcher({ clock, logger, ...subscriber });
    this.#logs = new LogFiles(clock, logger, logPaths);
  }

  /** For a configuration that may go into force. */
  blocksFor({ middlewares }: Configuration): BucketBlocks {
    return this.#buckets.blocksFor(middlewares);
  }

  /**
   * Takes up the configurations that are about to go into force; every worker has compiled them. Two while a candidate
   * is tried out.
   */
  follow(configurations: readonly Configuration[]): void {
    const middlewares = configurations.flatMap((configuration) => configuration.middlewares);
    this.#jwks.follow(configurations);
    this.#logs.follow(middlewares);
    const limiters = new Map(middlewares.filter(isLeasedLimiter).map((limiter) => [JSON.stringify(limiter), limiter]));
    this.#leases.follow([...limiters.values()].flatMap((limiter) => this.#heldLimits(limiter)));
    this.#buckets.keep(middlewares, this.#leases.blocks());
  }

  /** Names what stays closed of a configuration that is in force; pointers name entities by id. */
  problemsOf({ middlewares }: Configuration): Promise<readonly Problem[]> {
    return this.#logs.problemsOf(middlewares);
  }

  /** A worker lacks tokens of a limit that the cluster shares. */
  requestLease({ limit, row, tokens, name }: WantedLease): void {
    this.#leases.ask(limit, row, tokens, name);
  }

  get leases(): LeaseFigures {
    return this.#leases.figures;
  }

  #heldLimits(limiter: Middleware): readonly HeldLimit[] {
    const blocks = this.#buckets.blocksFor([limiter]).get(limiter.id) ?? [];
    return leasedLimits([limiter]).flatMap((limit, place) => {
      const memory = blocks[place];
      return memory === undefined ? [] : [{ limit, memory }];
    });
  }

  /** A worker has met a token that names an unknown key. */
  requestKeys(id: string): void {
    this.#jwks.refetch(id);
  }

  /** Sends the known keys to a worker that starts later. */
  repeatKeys(send: SendKeys): void {
    this.#jwks.repeat(send);
  }

  /** `onWritten` when the lines have gone out, or are lost. */
  write({ path, bytes, lines, dropped }: LineBatch, onWritten: () => void): void {
    if (dropped > 0) this.#logs.lose(dropped, 'the log is slower than the requests');
    if (lines > 0) this.#logs.write(path, bytes, lines, onWritten);
  }

  /** Number of lines of access logs that were lost since the start. */
  get lostLogLines(): number {
    return this.#logs.lostLines;
  }

  /** The files may have been moved away. */
  reopenLogs(): void {
    this.#logs.reopen();
  }

  async close(): Promise<void> {
    this.#jwks.close();
    this.#leases.close();
    await this.#logs.close(logsWithinMs);
  }
}
