// A log in memory for tests of what stands above it: a command has its index as soon as the batch before it is applied,
// and what arrives meanwhile forms the next batch.

import type { CommandEntry, Outcome } from '../../raft/index.ts';
import type { FromLog, LogPort } from '../../src/cluster/log/log-port.ts';
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
  readonly ended: (outcome: Outcome) => void;
}

const stopped: Outcome = { kind: 'notApplied', why: 'not leader' };
const cutOff: Outcome = { kind: 'unknown', why: 'stopping' };

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

  propose(bytes: Uint8Array, ended: (outcome: Outcome) => void): void {
    if (this.#stopped) this.#refuse([{ bytes, ended }], stopped);
    else {
      this.#queue.push({ bytes, ended });
      this.#schedule();
    }
  }

  /** Answers after apply, so every acknowledged write is at or below the applied index. */
  read(answered: (index: number | undefined) => void): void {
    const index = this.#stopped ? undefined : this.#applied;
    queueMicrotask(() => answered(index));
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
    const logTime = this.#clock.nowMs();
    const entries = this.#outstanding.map(
      ({ bytes }, at): CommandEntry => ({ kind: 'command', index: first + at, term: 1, time: logTime, payload: bytes }),
    );
    this.#last += entries.length;
    this.#receiver({ type: 'committed', batch: { first, last: this.#last, term: 1, logTime, entries, bytes: 0 } });
    for (const [at, { ended }] of this.#outstanding.entries()) ended({ kind: 'committed', index: first + at });
  }

  #refuse(proposals: readonly Proposal[], refused: Outcome): void {
    for (const { ended } of proposals) queueMicrotask(() => ended(refused));
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
