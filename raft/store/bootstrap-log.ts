// The first writes of a log: what an empty directory gets, and what makes its node the founder of a cluster.
import { encodeBase, encodeGeneration, encodeIdentity, type IdentityRecord } from '../codec/records.ts';
import type { Config, ConfigEntry, Index, Term } from '../core/types.ts';
import type { Operation } from './journal/journal-frames.ts';
import { put } from './log-image.ts';
import type { WriteBatch } from './log-store.ts';
import { keys } from './record-keys.ts';

export const firstGeneration = 1;

/** Records that every log has. */
export function foundation(identity: IdentityRecord): Operation[] {
  return [
    put(keys.identity, encodeIdentity(identity)),
    put(keys.base, encodeBase({ index: 0, term: 0, chain: 0 })),
    put(keys.generation, encodeGeneration({ generation: firstGeneration, builtFrom: 0 })),
  ];
}

/**
 * Entry 1 is the configuration, committed. With `after` above 0 the state machine holds entries of a time before raft:
 * the log begins behind them, as if behind a checkpoint without a file. `term` is that of the entry at `after`, where
 * there was a log that is gone.
 */
export function foundingBatch(config: Config, after: Index, time: number, term: Term = 1): WriteBatch {
  const entry: ConfigEntry = { kind: 'config', index: after + 1, term, time, config };
  const founding = { hardState: { term, vote: undefined, commit: after + 1 }, entries: [entry], sync: true };
  if (after === 0) return founding;
  const meta = { index: after, term, time, config, file: '', size: 0, sha256: '00'.repeat(32) };
  return { ...founding, install: { meta, generation: firstGeneration } };
}
