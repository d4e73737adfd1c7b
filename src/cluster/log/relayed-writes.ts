// The leader's end of the relay: proposes what another node received, once, and answers when it is applied here. The
// server of the relay has refused bytes that this node could not apply: in the log they would stop every node.

import type { RequestId, Result } from '../../state/command.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { ReceivedOutcome, ReceivedWrite } from '../relay/relay.ts';
import { writeDeadlineMs } from '../write-deadline.ts';
import type { WriteHold } from './edit-pause.ts';
import type { Leader, LogAnswer, LogPort } from './log-port.ts';

const relayedMax = 4_096;

export interface RelayedWritesParts {
  readonly port: Pick<LogPort, 'propose'>;
  readonly clock: Clock;
  readonly hold: WriteHold;
}

interface Waiting {
  readonly key: string;
  readonly answer: (outcome: ReceivedOutcome) => void;
  readonly cancelDeadline: Cancel;
}

export class RelayedWrites {
  readonly #parts: RelayedWritesParts;
  readonly #waiting = new Set<Waiting>();
  /** Waiters by request: a request that arrives again waits beside the first. */
  readonly #byRequest = new Map<string, Waiting[]>();

  constructor(parts: RelayedWritesParts) {
    this.#parts = parts;
  }

  /** Receives a relayed command. `otherLeader` is called when the log answers that this node does not lead. */
  receive(
    { requestId, command, decoded, remainingMs }: ReceivedWrite,
    otherLeader: () => Leader | undefined,
  ): Promise<ReceivedOutcome> {
    if (this.#waiting.size >= relayedMax) {
      return Promise.resolve({ outcome: 'not-applied', reason: 'too many writes are waiting' });
    }
    return new Promise((answer) => {
      const cancelDeadline = this.#parts.clock.after(Math.min(remainingMs, writeDeadlineMs(decoded)), () =>
        this.#end(waiting, { outcome: 'unknown', reason: 'the write was not confirmed in time' }),
      );
      const waiting: Waiting = { key: keyOf(requestId), answer, cancelDeadline };
      this.#add(waiting);
      const propose = (): void => {
        if (!this.#waiting.has(waiting)) return;
        this.#parts.port.propose(command, (answer) => this.#proposed(waiting, answer, otherLeader));
      };
      const held = this.#parts.hold.enter(decoded);
      if (held === undefined) propose();
      else void held.then(propose);
    });
  }

  applied(requestId: RequestId, result: Result): void {
    if (this.#waiting.size === 0) return;
    for (const waiting of this.#byRequest.get(keyOf(requestId)) ?? []) {
      this.#end(waiting, { outcome: 'applied', index: result.index, result });
    }
  }

  fail(reason: string): void {
    for (const waiting of this.#waiting) this.#end(waiting, { outcome: 'unknown', reason });
  }

  #proposed(waiting: Waiting, answer: LogAnswer, otherLeader: () => Leader | undefined): void {
    if (answer.is !== 'refused') return;
    const { refused } = answer;
    const isElsewhere = refused.outcome === 'not-applied' && refused.reason === 'not leader';
    this.#end(waiting, isElsewhere ? { outcome: 'not-leader', leader: otherLeader() } : refused);
  }

  #add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    const others = this.#byRequest.get(waiting.key);
    this.#byRequest.set(waiting.key, others === undefined ? [waiting] : [...others, waiting]);
  }

  #end(waiting: Waiting, outcome: ReceivedOutcome): void {
    if (!this.#waiting.delete(waiting)) return;
    const others = this.#byRequest.get(waiting.key)?.filter((each) => each !== waiting) ?? [];
    if (others.length > 0) this.#byRequest.set(waiting.key, others);
    else this.#byRequest.delete(waiting.key);
    waiting.cancelDeadline();
    waiting.answer(outcome);
  }
}

const keyOf = ({ origin, incarnation, boot, seq }: RequestId): string => [origin, incarnation, boot, seq].join('-');
