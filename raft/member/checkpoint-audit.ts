// Bytes rot at rest: every checkpoint file that is kept is read once a week and compared with its hash (raft.md A18).
// Log and state are sound without it, so a damaged one costs a line in the log and a new checkpoint.
import { join } from 'node:path';

import type { CheckpointMeta, Index } from '../core/types.ts';
import { verifyCheckpoint } from '../store/checkpoint-files.ts';

export interface AuditParts {
  readonly directory: string;
  /** Ascending; the last one is what peers are sent. */
  readonly kept: () => readonly CheckpointMeta[];
  readonly warning: (text: string) => void;
  /** The newest one can't be used. */
  readonly newestLost: (index: Index) => void;
}

export async function auditCheckpoints({ directory, kept, newestLost, warning }: AuditParts): Promise<void> {
  for (const meta of kept()) {
    const problem = await problemOf(join(directory, meta.file), meta);
    // It may have been pruned while it was read.
    if (problem === undefined || !kept().includes(meta)) continue;
    warning(`checkpoint at ${meta.index}: ${problem}`);
    if (meta === kept().at(-1)) newestLost(meta.index);
  }
}

async function problemOf(path: string, meta: CheckpointMeta): Promise<string | undefined> {
  try {
    await verifyCheckpoint(path, meta);
    return undefined;
  } catch (error) {
    return String(error);
  }
}
