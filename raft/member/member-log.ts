// The log of one member around its store: opened, judged, and rewritten on the rare occasions when a node gets a place
// in a cluster or another name. After those it is read again rather than patched in memory.
import { join } from 'node:path';

import {
  type CheckpointMeta,
  type Config,
  type Index,
  type LogPosition,
  type Member,
  type MemberId,
  memberId,
} from '../core/types.ts';
import type { Clock } from '../driver/driver-clock.ts';
import { drawNumber, type RandomBytes } from '../membership/member-identity.ts';
import { latestConfig, renamedConfig } from '../membership/rename.ts';
import { verifyCheckpoint } from '../store/checkpoint-files.ts';
import { DiskLogStore } from '../store/disk-log-store.ts';
import type { OpenedLog } from '../store/log-store.ts';
import type { Notices } from './member-host.ts';
import { checkpointDirectory, type RaftOptions } from './options.ts';

export interface MemberLogParts {
  readonly options: Pick<RaftOptions, 'directory' | 'nodeId'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly host: Pick<Notices, 'warning'>;
}

/** Names the file, the reason and the way out. */
export function poisonedText(directory: string, reason: string): string {
  const cure = 'replace this node (an empty store path, then POST /cluster/members/{id}/replace) or restore a backup';
  return `${join(directory, 'POISON')} keeps this node out, for data that it had acknowledged is gone or wrong: ${reason}. The way out: ${cure}`;
}

export class MemberLog {
  readonly #parts: MemberLogParts;
  #store: DiskLogStore;
  #opened: OpenedLog | undefined;
  #self: { readonly id: MemberId; readonly clusterId: string | undefined } = { id: '', clusterId: undefined };
  #checkpointLost: Index | undefined;

  constructor(parts: MemberLogParts) {
    this.#parts = parts;
    this.#store = this.#newStore();
  }

  get store(): DiskLogStore {
    return this.#store;
  }

  /** Result of the latest opening; undefined before, and when the log was poisoned. */
  get opened(): OpenedLog | undefined {
    return this.#opened;
  }

  /** Identity of this node by its log, and its cluster. */
  get self(): { readonly id: MemberId; readonly clusterId: string | undefined } {
    return this.#self;
  }

  /** The position of the newest checkpoint when its file cannot be used; undefined when it can. */
  get checkpointLost(): Index | undefined {
    return this.#checkpointLost;
  }

  /** Rejects with the reason when the log is unreadable or poisoned. */
  async open(): Promise<OpenedLog> {
    const opened = await this.#store.open();
    const { verdict } = opened;
    if (verdict.kind === 'poisoned') throw new Error(poisonedText(this.#parts.options.directory, verdict.reason));
    this.#opened = opened;
    this.#self = { id: memberId(opened.identity), clusterId: opened.identity.clusterId };
    this.#checkpointLost = await this.#findLostCheckpoint(opened.boot.checkpoint);
    return opened;
  }

  /** Log and state are sound without it: it costs a line in the log and a new checkpoint, not the node. */
  async #findLostCheckpoint(meta: CheckpointMeta | undefined): Promise<Index | undefined> {
    if (meta === undefined) return undefined;
    if (meta.file === '') return meta.index;
    try {
      await verifyCheckpoint(join(checkpointDirectory(this.#parts.options), meta.file), meta);
      return undefined;
    } catch (error) {
      this.#parts.host.warning(`checkpoint at ${meta.index}: ${String(error)}`);
      return meta.index;
    }
  }

  /** See DiskLogStore.join. */
  async join(clusterId: string, config: Config | undefined, after: LogPosition): Promise<void> {
    await this.#store.join(clusterId, config, after.index, Math.max(1, after.term));
    await this.#reopen();
  }

  /** A node that is alone takes the name and addresses of the settings. False: it is not alone, and keeps its own. */
  async rename(self: Member, nodeId: string): Promise<boolean> {
    const config = this.#opened && renamedConfig(this.#opened.boot, memberId(this.#opened.identity), self);
    if (config === undefined) return false;
    await this.#store.rename(nodeId, config);
    await this.#reopen();
    return true;
  }

  /** A suspect waits for a leader to settle the matter; the only voter would wait for itself. */
  get hopeless(): string | undefined {
    if (this.#opened?.verdict.kind !== 'suspect') return undefined;
    const { boot, verdict, identity } = this.#opened;
    const voters = latestConfig(boot)?.voters ?? [];
    if (voters.length !== 1 || voters[0] !== memberId(identity)) return undefined;
    return `the only voter may have lost its last writes (${verdict.reason}); remove raft/SUSPECT to accept that`;
  }

  async #reopen(): Promise<void> {
    await this.#store.close({ clean: false });
    this.#store = this.#newStore();
    await this.open();
  }

  #newStore(): DiskLogStore {
    const { options, clock, random } = this.#parts;
    const { directory, nodeId } = options;
    return new DiskLogStore({
      directory,
      nodeId,
      incarnation: () => drawNumber(random),
      nowMs: () => clock.nowMs(),
      after: (ms, run) => clock.after(ms, run),
    });
  }
}
