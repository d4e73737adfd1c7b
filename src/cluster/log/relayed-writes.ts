// The leader's end of the relay: proposes what another node received, once, and answers when it is applied here. The
// server of the relay has refused bytes that this node could not apply: in the log they would stop every node.

import type { CommandEntry, Outcome } from '../../../raft/index.ts';
import type { RequestId } from '../../model/answers/member-messages.ts';
import type { Command, Result } from '../../state/command.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { ReceivedOutcome, ReceivedWrite } from '../relay/relayed-write.ts';
import { writeDeadlineMs } from '../write-deadline.ts';
import type { WriteHold } from './edit-pause.ts';
import { failureOf, type Leader, type LogPort } from './log-port.ts';

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

/** Command as the server of the relay has decoded it. */
interface Proposed {
  readonly bytes: Uint8Array;
  readonly command: Command;
  /** Undefined before the log has taken it. */
  index: number | undefined;
}

export class RelayedWrites {
  readonly #parts: RelayedWritesParts;
  readonly #waiting = new Set<Waiting>();
  /** Proposals that the log has neither refused nor handed over, in the order of the log. */
  readonly #proposals = new Set<Proposed>();
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
        const proposed: Proposed = { bytes: command, command: decoded, index: undefined };
        this.#proposals.add(proposed);
        this.#parts.port.propose(command, (outcome) => {
          if (outcome.kind === 'committed') proposed.index = outcome.index;
          else this.#proposals.delete(proposed);
          this.#proposed(waiting, outcome, otherLeader);
        });
      };
      const held = this.#parts.hold.enter(decoded);
      if (held === undefined) propose();
      else void held.then(propose);
    });
  }

  /** Returns the command of an entry that the log hands over, once, where it was decoded here. Equal bytes are equal commands. */
  takeDecoded({ index, payload }: Pick<CommandEntry, 'index' | 'payload'>): Command | undefined {
    for (const proposed of this.#proposals) {
      // A checkpoint has stood for what lies before.
      if (proposed.index !== undefined && proposed.index < index) this.#proposals.delete(proposed);
      else if (Buffer.compare(proposed.bytes, payload) !== 0) return undefined;
      else {
        this.#proposals.delete(proposed);
        return proposed.command;
      }
    }
    return undefined;
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

  #proposed(waiting: Waiting, outcome: Outcome, otherLeader: () => Leader | undefined): void {
    if (outcome.kind === 'committed') return;
    const isElsewhere = outcome.kind === 'notApplied' && outcome.why === 'not leader';
    this.#end(waiting, isElsewhere ? { outcome: 'not-leader', leader: otherLeader() } : failureOf(outcome));
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
