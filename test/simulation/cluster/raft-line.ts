// The line between raft and the program above it, as between two threads: what is said arrives later, in order, and never
// within the call that said it.
import type { RaftNode } from '../../../raft/driver/host.ts';
import type { FromLog, LogPort, ToLog } from '../../../src/cluster/log/log-port.ts';

const crossingMs = 0.03;

export class RaftLine implements LogPort {
  readonly #later: (ms: number, run: () => void) => void;
  readonly #said: (() => void)[] = [];
  #receiver: (message: FromLog) => void = () => undefined;
  #node: RaftNode | undefined;
  /** What happens when the program has nothing more to say. */
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

  post(message: ToLog): void {
    this.cross(() => this.#take(message));
  }

  /** Both directions share one queue: each of them keeps its order, however late a crossing is noticed. */
  cross(run: () => void): void {
    this.#said.push(run);
    this.#later(crossingMs, () => this.#said.shift()?.());
  }

  #take(message: ToLog): void {
    switch (message.type) {
      case 'propose':
        this.#node?.propose(message.id, message.bytes);
        return;
      case 'read':
        this.#node?.read(message.id);
        return;
      case 'applied':
        this.#node?.applied(message.index);
        return;
      case 'stop':
        this.whenStopped();
        return;
    }
  }
}
