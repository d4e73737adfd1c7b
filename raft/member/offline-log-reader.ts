// Reader of the log of a stopped node, for a program that goes on without its former cluster (raft.md A20).
import { randomFillSync } from 'node:crypto';
import type { Entry, Index } from '../core/types.ts';
import { MemberLog } from './member-log.ts';
import type { RaftOptions } from './options.ts';
import { systemClock } from './system-clock.ts';

export interface LogRemains {
  /** Undefined: no entry was ever in it. */
  readonly clusterId: string | undefined;
  /** Generation of the program's state that counts. */
  readonly generation: number;
  /**
   * Returns all entries that follow `applied` without a gap. Only the lost quorum could tell which of the last ones
   * were committed; all that was acknowledged and reached this node is among them.
   * @throws {Error} when the log begins later
   */
  entriesAfter(applied: Index): readonly Entry[];
}

/** Rejects when another process holds the log, and with the reason when it is unreadable or poisoned. */
export async function readLogRemains(options: Pick<RaftOptions, 'directory' | 'nodeId'>): Promise<LogRemains> {
  const log = new MemberLog({
    options,
    clock: systemClock,
    random: randomFillSync,
    host: { warning: () => undefined },
  });
  const { generation, boot, identity } = await log.open();
  await log.store.close({ clean: true });
  const { base, entries } = boot;
  return {
    clusterId: identity.clusterId,
    generation,
    entriesAfter(applied) {
      // A state that is not the one of this log: what lies between them is nowhere.
      if (applied < base.index)
        throw new Error(`the state ends at entry ${applied}, the log begins after ${base.index}`);
      return entries.slice(applied - base.index);
    },
  };
}
