// From what the scan read to what driver and writer start with.
import type { BootState } from '../core/types.ts';
import { firstGeneration } from './bootstrap-log.ts';
import type { ImageState } from './log-image.ts';
import type { LogVerdict, OpenedLog } from './log-store.ts';
import type { LogContents } from './recovery.ts';

/** Undefined contents: an empty log. */
export function imageOf(contents: LogContents | undefined): ImageState {
  return {
    base: contents?.base ?? { index: 0, term: 0, chain: 0 },
    chains: contents?.chains ?? [],
    hardState: contents?.state.hardState ?? { term: 0, vote: undefined, commit: 0 },
    persistSeq: contents?.state.persistSeq ?? 0,
  };
}

export function bootOf(contents: LogContents | undefined, suspect: boolean): BootState {
  const { base, hardState } = imageOf(contents);
  return {
    hardState,
    base: { index: base.index, term: base.term },
    entries: contents?.entries ?? [],
    checkpoint: contents?.checkpoint,
    suspect,
  };
}

/** Returns enough of a poisoned log to identify its node; nothing else of it is used. */
export function poisonedLog(verdict: LogVerdict, contents: LogContents | undefined, nodeId: string): OpenedLog {
  return {
    identity: contents?.identity ?? { nodeId, incarnation: 0, clusterId: undefined },
    verdict,
    boots: contents?.boots ?? 0,
    generation: contents?.generation ?? firstGeneration,
    boot: bootOf(undefined, false),
  };
}
