// A log in memory for tests of what stands above it: a command has its index as soon as the batch before it is applied,
// and what arrives meanwhile forms the next batch.

import type { CommittedEntry, FromLog, LogAnswer, LogPort, Refusal } from '../../src/cluster/log/log-port.ts';
import type { Clock } from '../../src/util/clock.ts';

const batchMax = 256;
const batchBytesMax = 8 * 1024 * 1024;

export interface LocalLogOptions {
  /** Name of the only member. */
  readonly nodeId: string;
  /** Last index of the state; the next command gets the one after. */
  readonly applied: number;
  readonly clock: Pick<Clock, 'nowMs'>;
}

interface Proposal {
  readonly bytes: Uint8Array;
  readonly ended: (answer: LogAnswer) => void;
}

const stopped: Refusal = { outcome: 'not-applied', reason: 'the log is stopped' };
const cutOff: Refusal = { outcome: 'unknown', reason: 'the log was stopped while the write was on its way' };

export class LocalLog implements LogPort {
  readonly #nodeId: string;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #queue: Proposal[] = [];
  #outstanding: readonly Proposal[] = [];
  #applied: number;
  #last: number;
  #stopped = false;
  #scheduled = false;
  #receiver: (message: FromLog) => void = () => undefined;

  constructor({ nodeId, applied, clock }: LocalLogOptions) {
    this.#nodeId = nodeId;
    this.#clock = clock;
    this.#applied = applied;
    this.#last = applied;
  }

  receive(receiver: (message: FromLog) => void): void {
    this.#receiver = receiver;
    this.#send({ type: 'role', role: 'leader', leader: { nodeId: this.#nodeId, address: '' }, soleVoter: true });
  }

  propose(bytes: Uint8Array, ended: (answer: LogAnswer) => void): void {
    if (this.#stopped) this.#refuse([{ bytes, ended }], stopped);
    else {
      this.#queue.push({ bytes, ended });
      this.#schedule();
    }
  }

  /** Answers after apply, so every acknowledged write is at or below the applied index. */
  read(answered: (answer: LogAnswer) => void): void {
    const answer: LogAnswer = this.#stopped
      ? { is: 'refused', refused: stopped }
      : { is: 'agreed', index: this.#applied };
    queueMicrotask(() => answered(answer));
  }

  applied(index: number): void {
    this.#applied = Math.max(this.#applied, index);
    if (this.#applied < this.#last) return;
    this.#outstanding = [];
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#refuse(this.#outstanding, cutOff);
    this.#refuse(this.#queue, stopped);
    this.#outstanding = [];
    this.#queue = [];
  }

  /** Sends in a microtask, so that all proposals of one turn form a batch. */
  #schedule(): void {
    if (this.#scheduled || this.#queue.length === 0 || this.#outstanding.length > 0) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (!this.#stopped && this.#outstanding.length === 0) this.#commit();
    });
  }

  #commit(): void {
    this.#outstanding = this.#queue.splice(0, batchLength(this.#queue));
    const first = this.#last + 1;
    const entries: CommittedEntry[] = this.#outstanding.map(({ bytes }, at) => ({ index: first + at, bytes }));
    this.#last += entries.length;
    for (const [at, { ended }] of this.#outstanding.entries()) ended({ is: 'agreed', index: first + at });
    this.#receiver({ type: 'committed', first, last: this.#last, term: 1, logTime: this.#clock.nowMs(), entries });
  }

  #refuse(proposals: readonly Proposal[], refused: Refusal): void {
    for (const { ended } of proposals) queueMicrotask(() => ended({ is: 'refused', refused }));
  }

  #send(message: FromLog): void {
    queueMicrotask(() => this.#receiver(message));
  }
}

/** Number of commands in the next batch: at least one command, at most `batchMax`, and `batchBytesMax` unless one command is larger. */
function batchLength(queue: readonly Proposal[]): number {
  let length = 0;
  let bytes = 0;
  for (const proposal of queue) {
    bytes += proposal.bytes.length;
    if (length === batchMax || (length > 0 && bytes > batchBytesMax)) break;
    length += 1;
  }
  return length;
}
