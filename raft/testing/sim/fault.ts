// The faults a plan can hold. They are plain data: a failing seed's list can be cut down and replayed.
import type { Message } from '../../core/message.ts';

export type Fault =
  | { readonly kind: 'crash'; readonly slot: number; readonly downMs: number }
  | { readonly kind: 'powerLoss'; readonly slot: number; readonly downMs: number }
  | { readonly kind: 'blackout'; readonly downMs: number }
  | { readonly kind: 'stop'; readonly slot: number; readonly downMs: number }
  | { readonly kind: 'pause'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'partition'; readonly sides: readonly number[]; readonly ms: number }
  | { readonly kind: 'oneWay'; readonly from: number; readonly to: number; readonly ms: number }
  | { readonly kind: 'isolate'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'bridge'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'clog'; readonly from: number; readonly to: number; readonly ms: number }
  | { readonly kind: 'loseKind'; readonly message: Message['type']; readonly ms: number }
  | { readonly kind: 'burst'; readonly ms: number; readonly delayMs: number }
  | { readonly kind: 'diskStall'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'slowDisk'; readonly slot: number; readonly ms: number; readonly writeMs: number }
  | { readonly kind: 'writeError'; readonly slot: number; readonly downMs: number }
  | { readonly kind: 'tornTail'; readonly slot: number; readonly entries: number; readonly downMs: number }
  | { readonly kind: 'corruption'; readonly slot: number }
  | { readonly kind: 'clockRate'; readonly slot: number; readonly rate: number; readonly ms: number }
  | { readonly kind: 'clockJump'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'hostStall'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'unreachable'; readonly slot: number; readonly other: number }
  | { readonly kind: 'transfer'; readonly to: number | undefined }
  | { readonly kind: 'checkpoint'; readonly slot: number }
  | {
      readonly kind: 'member';
      readonly op: MemberOp;
      readonly slot: number;
      readonly other: number;
      readonly twice: boolean;
    }
  | { readonly kind: 'wipe'; readonly slot: number; readonly downMs: number }
  /** Waits for the next vote that this node gives away; the candidate is isolated for `ms`. */
  | { readonly kind: 'forgetVote'; readonly slot: number; readonly downMs: number; readonly ms: number };

export type MemberOp = 'addLearner' | 'promote' | 'replace' | 'remove' | 'demote' | 'update';

export type FaultKind = Fault['kind'];

export interface TimedFault {
  /** Simulated milliseconds since the start. */
  readonly at: number;
  readonly fault: Fault;
}
