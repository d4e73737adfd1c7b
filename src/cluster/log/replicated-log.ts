// "Propose and wait", as the REST surface sees it. Nothing above this line knows how many nodes agree.
import type { Draft, Result } from '../../state/command.ts';

export interface ReplicatedLog {
  /**
   * Fixes request id and time, makes the command durable, and resolves once it is applied on this node. A refusal of
   * the state machine is a result, not a rejection. Rejects with UNAVAILABLE when it is certain that it was not
   * applied, OUTCOME_UNKNOWN when its outcome cannot be known, TOO_LARGE when it can never be applied.
   */
  propose(draft: Draft): Promise<Result>;
  /** Linearizable read: resolves once this node has applied everything that was acknowledged before the call. */
  readBarrier(): Promise<number>;
  /** Resolves once this node has applied `index`; rejects with UNAVAILABLE after `withinMs`. */
  appliedAtLeast(index: number, withinMs: number): Promise<void>;
}
