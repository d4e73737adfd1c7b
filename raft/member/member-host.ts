// Host of a member: the program above it, with the calls of the driver and those about the life of the cluster.
import type { CheckpointMeta, Index, MemberId } from '../core/types.ts';
import type { Host } from '../driver/driver-host.ts';
import type { LogVerdict } from '../store/log-store.ts';

export interface LogBeginning {
  /** Index before the first entry that is kept. */
  readonly base: Index;
  /** The newest checkpoint, whose file is whole; undefined without one. */
  readonly checkpoint: CheckpointMeta | undefined;
}

/** Report of the log about this node, before anything runs. The host deletes the generations that do not count. */
export interface OpenedReport extends LogBeginning {
  readonly id: MemberId;
  /** Undefined: this node waits for a cluster, or creates one. */
  readonly clusterId: string | undefined;
  readonly generation: number;
  readonly boots: number;
  /** Index of the last entry in the log; 0 for an empty one. */
  readonly lastIndex: Index;
  readonly verdict: LogVerdict;
}

/** Lines for the operator's log; never more than a few a minute. */
export interface Notices {
  /** Reports an event in the life of a cluster. */
  notice(text: string): void;
  /** Reports a condition that an operator has to look after. */
  warning(text: string): void;
}

export interface MemberHost extends Host, Notices {
  opened(report: OpenedReport): void;
  /** In place of `opened`, with the code of the system (EADDRINUSE …): `bindAddress` cannot be listened on. */
  cannotListen(code: string): void;
  /** This node is no member any more, and never will be with this store: it takes no writes and knows no index to read at. */
  removed?(why: string): void;
  /** Reports a step of the core, while `RaftOptions.details` asks for it. */
  detail?(text: string): void;
}
