// State that the middlewares of all workers share and main keeps: the memory of rate limits, the keys of tokens, the
// files of access logs.
import { randomInt } from 'node:crypto';
import type { Problem } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import type { LineBatch } from '../access-log/line-batches.ts';
import { LogFiles } from '../access-log/log-files.ts';
import type { LogPaths } from '../access-log/log-paths.ts';
import { JwksFetcher } from '../jwks/jwks-fetcher.ts';
import { BucketAllocator, type BucketBlocks } from '../shared/bucket-allocator.ts';

/** Sends keys by name of the set; undefined when they could not be fetched. */
type SendKeys = (name: string, document: string | undefined) => void;

/** Calls that pass keys on to the workers. */
export interface KeySubscriber {
  readonly send: SendKeys;
  readonly forget: (name: string) => void;
}

const logsWithinMs = 2_000;

export class MiddlewareState {
  /** Random, so that no client can find out which addresses share a place. */
  readonly seed = randomInt(2 ** 31);
  readonly #buckets = new BucketAllocator();
  readonly #jwks: JwksFetcher;
  readonly #logs: LogFiles;

  constructor(clock: Clock, logger: Logger, logPaths: LogPaths, subscriber: KeySubscriber) {
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
    this.#buckets.keep(middlewares);
  }

  /** Names what stays closed of a configuration that is in force; pointers name entities by id. */
  problemsOf({ middlewares }: Configuration): Promise<readonly Problem[]> {
    return this.#logs.problemsOf(middlewares);
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
    await this.#logs.close(logsWithinMs);
  }
}
