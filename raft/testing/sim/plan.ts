// Plan of one seed: cluster, network, disks, load and faults, all drawn from the seed before it starts.
import type { CrashMoment } from './disk-operations.ts';
import type { TimedFault } from './fault.ts';

export interface Plan {
  readonly seed: number;
  readonly nodes: number;
  /** Slots beyond the first members; they run, empty, until an operator adds them. */
  readonly spares: number;
  readonly safetyMs: number;
  readonly network: NetworkPlan;
  readonly disk: DiskPlan;
  readonly load: LoadPlan;
  readonly tuning: Tuning;
  readonly faults: readonly TimedFault[];
  /** Nothing is wrong but what is named: not one election may take place after the first. */
  readonly calm?: 'pauses' | 'rejoins' | 'partial';
  readonly crashPoint?: CrashPoint;
}

/** The machine loses power around one operation of its disks. */
export interface CrashPoint {
  readonly slot: number;
  /** Counted from 1 over all lives of the machine. */
  readonly operation: number;
  readonly when: CrashMoment;
}

export interface NetworkPlan {
  readonly minDelayMs: number;
  readonly meanDelayMs: number;
  readonly loss: number;
  readonly duplicate: number;
  /** Probability that a message is delivered once more, long after, perhaps to the next life of its receiver. */
  readonly replay: number;
}

export interface DiskPlan {
  readonly writeMs: number;
  readonly applyMs: number;
  /** A power loss keeps single unsynced batches instead of losing all. */
  readonly keepsUnsynced: boolean;
}

export interface LoadPlan {
  readonly clients: number;
  readonly thinkMs: number;
  readonly reads: number;
  /** Now and then a client asks for so many writes at once: a leader that is cut off gathers a long tail. */
  readonly burst: number;
  /** So many of the clients know at any time who leads. */
  readonly informed?: number;
}

export interface Tuning {
  readonly windowMessages: number;
  readonly appendBytes: number;
  readonly batchEntries: number;
  readonly checkpointEntries: number;
  readonly trailingEntries: number;
  readonly checkpointSize: number;
  readonly chunkBytes: number;
  readonly applyCredit: number;
  /** New leaders look for agreement far back, as leaders of other versions may. */
  readonly probesBack: boolean;
}
