// The leader's end of the relay: proposes what another node received, once, and answers when it is applied here. Bytes
// that this node could not apply are refused before they enter the log, where they would stop every node.
import type { Cancel, Clock } from '../../clock.ts';
import type { Command, RequestId, Result } from '../../state/command.ts';
import type { DurableState } from '../../state/durable-state.ts';
import type { ReceivedOutcome, RelayRequest } from '../relay/relay.ts';
import type { Leader, LogAnswer, LogPort } from './log-port.ts';
import type { WriteHold } from './write-hold.ts';

const relayedMax = 4_096;
const longestMs = 10_000;

export interface RelayedWritesParts {
  readonly port: Pick<LogPort, 'propose'>;
  readonly state: DurableState;
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

  constructor(parts: RelayedWritesParts) {
    this.#parts = parts;
  }

  /** `otherLeader` is asked when the log says that this node does not lead. */
  receive(
    { requestId, command, remainingMs }: Pick<RelayRequest, 'requestId' | 'command' | 'remainingMs'>,
    otherLeader: () => Leader | undefined,
  ): Promise<ReceivedOutcome> {
    const decoded = this.#read(requestId, command);
    if (typeof decoded === 'string') return Promise.resolve({ outcome: 'not-applied', reason: decoded });
    return new Promise((answer) => {
      const cancelDeadline = this.#parts.clock.after(Math.min(remainingMs, longestMs), () =>
        this.#end(waiting, { outcome: 'unknown', reason: 'the write was not confirmed in time' }),
      );
      const waiting: Waiting = { key: keyOf(requestId), answer, cancelDeadline };
      this.#waiting.add(waiting);
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
    const key = keyOf(requestId);
    for (const waiting of this.#waiting) {
      if (waiting.key === key) this.#end(waiting, { outcome: 'applied', index: result.index, result });
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

  /** The command, or why it must not enter the log. */
  #read(requestId: RequestId, command: Uint8Array): Command | string {
    if (this.#waiting.size >= relayedMax) return 'too many writes are waiting';
    try {
      const decoded = this.#parts.state.decode(command);
      if (decoded.op === 'malformed') return `the command ${decoded.why}`;
      return keyOf(decoded.requestId) === keyOf(requestId) ? decoded : 'the command has another request id';
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
