// Cache writer: reads and writes the last good configuration (fleet.md §2): read before the first connection, written
// after each install. Failures are logged, and never keep a proxy from serving; a write that failed is made again until it succeeds.

import type { ProxySettings } from '../settings/proxy-settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { type Copy, CopyDamaged, LastGood } from './config-cache.ts';
import { readSnapshotEvent } from './received-config.ts';
import type { Arrival, RemoteSource } from './remote-source.ts';

export interface CopyKeeperOptions {
  readonly own: Pick<ProxySettings, 'lastGood' | 'encryptionKey'>;
  readonly storePath: string;
  readonly source: Pick<RemoteSource, 'begin' | 'cookieKeys'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** True when a warning that nothing can be written there was logged already. Default: false. */
  readonly hasWarned?: boolean;
}

/** Interval of attempts to write a copy. */
const retryMs = 2_000;

export class CopyKeeper {
  readonly #options: CopyKeeperOptions;
  readonly #file: LastGood | undefined;
  #readWrittenMs: number | undefined;
  #hasWarned: boolean;
  /** Copy to be on disk. */
  #newest: Copy | undefined;
  /** Undefined: no attempt waits. */
  #cancelRetry: Cancel | undefined;

  constructor(options: CopyKeeperOptions) {
    this.#options = options;
    const { own, storePath, hasWarned = false } = options;
    this.#hasWarned = hasWarned;
    this.#file = own.lastGood ? new LastGood({ storePath, key: own.encryptionKey }) : undefined;
  }

  /** Seconds since the copy was written that this process began with; undefined when there was none. */
  get ageSeconds(): number | undefined {
    if (this.#readWrittenMs === undefined) return undefined;
    return Math.max(0, Math.round((this.#options.clock.nowMs() - this.#readWrittenMs) / 1000));
  }

  /** Hands the copy to the source, if there is one that can be used. */
  async begin(): Promise<void> {
    const { own, storePath, source, logger } = this.#options;
    if (this.#file === undefined) return;
    if (own.encryptionKey === undefined) {
      logger.info({ storePath }, 'the last good copy holds secrets in plain text: set proxy.encryption.key');
    }
    const copy = await this.#read();
    if (copy === undefined) return;
    try {
      source.begin(readSnapshotEvent(copy.data), copy.place, copy.data, copy.cookieKeys);
    } catch (error) {
      await this.#moveAside(error);
      return;
    }
    this.#readWrittenMs = copy.writtenMs;
    const about = { index: copy.place?.index, ageSeconds: this.ageSeconds };
    logger.info(about, 'begins with the last good copy, until a control plane answers');
  }

  /** Writes a configuration that is live to the cache. */
  keep({ place, sha256, data, from }: Arrival): void {
    if (this.#file === undefined || from === 'copy') return;
    const writtenMs = this.#options.clock.nowMs();
    const { current } = this.#options.source.cookieKeys;
    const keys = current.index > 0 && { cookieKeys: current };
    this.#write({ place, writtenMs, sha256, data, ...keys });
  }

  /** The copy itself cannot be installed: the next start would fail in the same way. */
  refused({ from }: Arrival): void {
    if (from === 'copy') void this.#moveAside(new CopyDamaged('it cannot be installed'));
  }

  /** Resolves when nothing is being written; nothing is tried again afterwards. */
  async settled(): Promise<void> {
    this.#newest = undefined;
    this.#cancelRetry?.();
    await this.#file?.settled();
  }

  async #read(): Promise<Copy | undefined> {
    try {
      return await this.#file?.read();
    } catch (error) {
      const about = { file: this.#file?.file, reason: reasonOf(error) };
      if (error instanceof CopyDamaged) await this.#moveAside(error);
      else this.#options.logger.error(about, 'the last good copy cannot be read');
      return undefined;
    }
  }

  async #moveAside(error: unknown): Promise<void> {
    const { logger } = this.#options;
    const about = { file: this.#file?.file, reason: reasonOf(error) };
    try {
      await this.#file?.moveAside();
      logger.error(about, 'the last good copy is not used and moved aside as *.damaged');
    } catch (failure) {
      logger.error({ ...about, stays: reasonOf(failure) }, 'the last good copy is not used, and cannot be moved aside');
    }
  }

  #write(copy: Copy): void {
    this.#newest = copy;
    this.#file?.write(copy).then(
      () => this.#written(),
      (error: unknown) => this.#cannotKeep(error),
    );
  }

  #written(): void {
    if (this.#cancelRetry !== undefined || !this.#hasWarned) return;
    this.#hasWarned = false;
    this.#options.logger.info({ storePath: this.#options.storePath }, 'the last good copy is written again');
  }

  #cannotKeep(error: unknown): void {
    const { storePath, logger, clock } = this.#options;
    const about = { storePath, reason: reasonOf(error) };
    if (!this.#hasWarned) logger.warn(about, 'the last good copy cannot be written');
    this.#hasWarned = true;
    this.#cancelRetry?.();
    this.#cancelRetry = clock.after(retryMs, () => {
      this.#cancelRetry = undefined;
      if (this.#newest !== undefined) this.#write(this.#newest);
    });
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
