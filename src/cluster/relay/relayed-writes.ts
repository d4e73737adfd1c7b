// The leader's end of the relay: proposes what another node received, once, and answers when it is applied here. Bytes
// that this node could not apply are refused before they enter the log, where they would stop every node.
import type { Cancel, Clock } from '../../clock.ts';
import type { RequestId, Result } from '../../state/command.ts';
import type { DurableState } from '../../state/durable-state.ts';
import type { AttemptEnd, Attempts } from '../attempts.ts';
import type { Leader } from '../log-port.ts';
import type { ReceivedOutcome, RelayRequest } from './relay.ts';

export const relayedMax = 4_096;
export const longestMs = 10_000;

export interface RelayedWritesParts {
  readonly attempts: Attempts;
  readonly state: DurableState;
  readonly clock: Clock;
}

interface Waiting {
  readonly key: string;
  readonly answer: (outcome: ReceivedOutcome) => void;
  readonly cancelDeadline: Cancel;
}

export class RelayedWrites {
  readonly #parts: RelayedWritesParts;
  readonly #waiting = new Set<Waiting>();

  constructor(parts: RelayedWritesParts) {
    this.#parts = parts;
  }

  /** `otherLeader` is asked when the log says that this node does not lead. */
  receive(
    { requestId, command, remainingMs }: Pick<RelayRequest, 'requestId' | 'command' | 'remainingMs'>,
    otherLeader: () => Leader | undefined,
  ): Promise<ReceivedOutcome> {
    const flaw = this.#flawOf(requestId, command);
    if (flaw !== undefined) return Promise.resolve({ outcome: 'not-applied', reason: flaw });
    return new Promise((answer) => {
      const cancelDeadline = this.#parts.clock.after(Math.min(remainingMs, longestMs), () =>
        this.#end(waiting, { outcome: 'unknown', reason: 'the write was not confirmed in time' }),
      );
      const waiting: Waiting = { key: keyOf(requestId), answer, cancelDeadline };
      this.#waiting.add(waiting);
      this.#parts.attempts.propose(command, (end) => this.#proposed(waiting, end, otherLeader));
    });
  }

  applied(requestId: RequestId, result: Result): void {
    if (this.#waiting.size === 0) return;
    const key = keyOf(requestId);
    for (const waiting of this.#waiting) {
      if (waiting.key === key) this.#end(waiting, { outcome: 'applied', index: result.index, result });
    }
  }

  fail(reason: string): void {
    for (const waiting of this.#waiting) this.#end(waiting, { outcome: 'unknown', reason });
  }

  #proposed(waiting: Waiting, end: AttemptEnd, otherLeader: () => Leader | undefined): void {
    if (!('refused' in end)) return;
    const { refused } = end;
    const isElsewhere = refused.outcome === 'not-applied' && refused.reason === 'not leader';
    this.#end(waiting, isElsewhere ? { outcome: 'not-leader', leader: otherLeader() } : refused);
  }

  #flawOf(requestId: RequestId, command: Uint8Array): string | undefined {
    if (this.#waiting.size >= relayedMax) return 'too many writes are waiting';
    try {
      const decoded = this.#parts.state.decode(command);
      if ('malformed' in decoded) return `the command ${decoded.malformed}`;
      return keyOf(decoded.requestId) === keyOf(requestId) ? undefined : 'the command has another request id';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #end(waiting: Waiting, outcome: ReceivedOutcome): void {
    if (!this.#waiting.delete(waiting)) return;
    waiting.cancelDeadline();
    waiting.answer(outcome);
  }
}

const keyOf = ({ origin, incarnation, boot, seq }: RequestId): string => [origin, incarnation, boot, seq].join('-');
