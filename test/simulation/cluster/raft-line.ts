// The line between raft and the program above it, as between two threads: what is said arrives later, in order, and never
// within the call that said it.
import type { Outcome, RaftNode } from '../../../raft/driver/driver-host.ts';
import type { FromLog, LogPort } from '../../../src/cluster/log/log-port.ts';

const crossingMs = 0.03;

export class RaftLine implements LogPort {
  readonly #later: (ms: number, run: () => void) => void;
  readonly #said: (() => void)[] = [];
  readonly #asked = new Map<number, (answer: never) => void>();
  #id = 0;
  #receiver: (message: FromLog) => void = () => undefined;
  #node: RaftNode | undefined;
  /** Called when the program has nothing more to send. */
  whenStopped: () => void = () => undefined;

  /** `later` runs in this process or never. */
  constructor(later: (ms: number, run: () => void) => void) {
    this.#later = later;
  }

  attach(node: RaftNode): void {
    this.#node = node;
  }

  receive(receiver: (message: FromLog) => void): void {
    this.#receiver = receiver;
  }

  say(message: FromLog): void {
    this.cross(() => this.#receiver(message));
  }

  propose(bytes: Uint8Array, ended: (outcome: Outcome) => void): void {
    const id = this.#ask(ended);
    this.cross(() => this.#node?.propose(id, bytes));
  }

  read(answered: (index: number | undefined) => void): void {
    const id = this.#ask(answered);
    this.cross(() => this.#node?.read(id));
  }

  applied(index: number): void {
    this.cross(() => this.#node?.applied(index));
  }

  stop(): void {
    this.cross(() => this.whenStopped());
  }

  outcome(id: number, outcome: Outcome): void {
    this.cross(() => this.#answer(id, outcome));
  }

  readable(id: number, index: number | undefined): void {
    this.cross(() => this.#answer(id, index));
  }

  #ask(answered: (answer: never) => void): number {
    this.#id += 1;
    this.#asked.set(this.#id, answered);
    return this.#id;
  }

  #answer(id: number, answer: Outcome | number | undefined): void {
    const answered = this.#asked.get(id);
    this.#asked.delete(id);
    answered?.(answer as never);
  }

  /**
   * Carries calls in both directions through one queue: each direction keeps its order, however late a crossing is
   * noticed.
   */
  cross(run: () => void): void {
    this.#said.push(run);
    this.#later(crossingMs, () => this.#said.shift()?.());
  }
}
