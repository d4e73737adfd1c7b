// Brings a command to the leader: into the log of this node when it leads, else over the relay; again and again, always
// the same bytes, until the write is over (raft.md A16). A repeated delivery is harmless, because apply knows the request.

import type { Outcome } from '../../../raft/index.ts';
import type { RequestId } from '../../model/answers/member-messages.ts';
import type { Result } from '../../state/command.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { Relay, RelayOutcome } from '../relay/relayed-write.ts';
import { failureOf, type Leader, type LogPort } from './log-port.ts';

export const retryMs = 50;

export interface PendingProposal {
  readonly requestId: RequestId;
  readonly bytes: Uint8Array;
  /** Monotonic ms. */
  readonly deadline: number;
  /** The leader has applied it at `index`; this node may not have yet. */
  readonly applied: (index: number, result: Result) => void;
  /**
   * Called when the log of this node has refused an attempt, with the `reason`. Another follows unless this ends the
   * delivery.
   */
  readonly refused?: () => void;
}

export interface DeliveryParts {
  readonly port: Pick<LogPort, 'propose'>;
  /** Called when the log has answered an attempt. */
  readonly answered?: () => void;
  readonly relay: Relay | undefined;
  readonly clock: Clock;
}

type Leadership = Leader | 'self' | undefined;

export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #proposal: PendingProposal;
  #leader: Leadership;
  #attempt = 0;
  /** An attempt is under way, and this is how. */
  #under: 'log' | 'relay' | undefined;
  #inLog = false;
  #everUnknown = false;
  #reason = 'no leader is known';
  #over = false;
  #cancelRetry: Cancel = () => undefined;

  constructor(parts: DeliveryParts, proposal: PendingProposal, leader: Leadership) {
    this.#parts = parts;
    this.#proposal = proposal;
    this.#leader = leader;
    this.#send();
  }

  /** True while the command may still have an effect. */
  get isUncertain(): boolean {
    return this.#everUnknown || this.#inLog || this.#under !== undefined;
  }

  get isUnderWay(): boolean {
    return this.#under !== undefined;
  }

  /** Why the last attempt failed. */
  get reason(): string {
    return this.#reason;
  }

  /**
   * Handles a change of the leader. A command on its way to the former one may be lost; a new attempt goes to the new
   * leader.
   */
  leaderChanged(leader: Leadership): void {
    this.#leader = leader;
    if (this.#over || this.#inLog || leader === undefined || this.#under === 'log') return;
    if (this.#under === 'relay') this.#everUnknown = true;
    this.#send();
  }

  /** No more attempts. */
  end(): void {
    this.#over = true;
    this.#cancelRetry();
  }

  #send(): void {
    if (this.#over) return;
    this.#cancelRetry();
    const attempt = ++this.#attempt;
    const { port, relay, clock } = this.#parts;
    const { requestId, bytes, deadline } = this.#proposal;
    const leader = this.#leader;
    if (leader === undefined || leader === 'self' || relay === undefined) {
      this.#under = 'log';
      port.propose(bytes, (outcome) => this.#logged(attempt, outcome));
      return;
    }
    this.#under = 'relay';
    const remainingMs = Math.max(1, Math.ceil(deadline - clock.monotonicMs()));
    void relay
      .send({ leader, requestId, command: bytes, remainingMs })
      .then((outcome) => this.#relayed(attempt, outcome));
  }

  #logged(attempt: number, outcome: Outcome): void {
    if (outcome.kind !== 'committed') {
      this.#failed(attempt, failureOf(outcome));
      this.#proposal.refused?.();
    } else {
      this.#inLog = true;
      this.#under = undefined;
    }
    this.#parts.answered?.();
  }

  #relayed(attempt: number, outcome: RelayOutcome): void {
    if (outcome.outcome !== 'applied') {
      this.#failed(attempt, outcome);
      this.#proposal.refused?.();
    } else {
      this.#inLog = true;
      this.#under = undefined;
      this.#proposal.applied(outcome.index, outcome.result);
    }
  }

  /** Handles a failed attempt. Of an attempt that was given up before, only its problem counts. */
  #failed(attempt: number, { outcome, reason }: { outcome: 'not-applied' | 'unknown'; reason: string }): void {
    if (outcome === 'unknown') this.#everUnknown = true;
    if (attempt !== this.#attempt) return;
    this.#under = undefined;
    this.#reason = reason;
    if (!this.#over) this.#cancelRetry = this.#parts.clock.after(retryMs, () => this.#send());
  }
}
