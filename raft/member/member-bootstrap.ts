// Bootstrap of a node that belongs to no cluster yet (raft.md A19): it greets the nodes it can find and decides, again
// and again, whether it creates the cluster, until it does or a member of one makes contact.
import type { Greeting } from '../codec/greeting.ts';
import type { Config } from '../core/types.ts';
import type { Cancel, Clock } from '../driver/driver-clock.ts';
import { discoveredFounding, type Founding, staticFounding } from '../membership/bootstrap.ts';
import type { Discovery } from '../membership/discovery.ts';
import type { ClusterOptions } from './options.ts';

export interface BootstrapParts {
  readonly options: ClusterOptions;
  readonly clock: Clock;
  readonly discovery: Discovery;
  readonly self: () => Greeting;
  readonly met: () => readonly Greeting[];
  readonly greet: (addresses: readonly string[]) => void;
  /** This node creates the cluster. Called once; it is closed then. */
  readonly found: (config: Config) => void;
  /** For the log: why nothing happens, each time the reason changes. */
  readonly waiting: (why: string) => void;
}

const lookMs = 200;
/** One round of greetings, with discovery. Two rounds, the look-ups and an election fit into five seconds. */
const rediscoverMs = 1_000;
/** All nodes hang up at the start of a round: a node that is not back by the end of this wait is missing. */
const meetAgainMs = 800;

export class Bootstrap {
  readonly #parts: BootstrapParts;
  #timer: Cancel = () => {};
  #greetedAt = Number.NEGATIVE_INFINITY;
  /** With discovery the same answer must come from two rounds of greetings. */
  #agreedAt: number | undefined;
  #why = '';
  #closed = false;

  constructor(parts: BootstrapParts) {
    this.#parts = parts;
    this.#look();
  }

  close(): void {
    this.#closed = true;
    this.#timer();
  }

  /** Returns whether a node that made contact may speak for the cluster that this node waits for. */
  expects({ nodeId, address }: Greeting): boolean {
    const { peers, discovery } = this.#parts.options;
    return discovery !== undefined || peers.some((peer) => peer.nodeId === nodeId || peer.address === address);
  }

  #look(): void {
    const { clock } = this.#parts;
    const founding = this.#decide();
    if (founding.kind === 'create' && this.#isSettled()) {
      this.close();
      this.#parts.found(founding.config);
      return;
    }
    if (founding.kind === 'wait' && !this.#areMeeting) this.#wait(founding.why);
    this.#greet();
    this.#timer = clock.after(lookMs, () => this.#look());
  }

  #decide(): Founding {
    const { options, self, met } = this.#parts;
    const { peers, discovery } = options;
    if (discovery !== undefined) return discoveredFounding(self(), discovery.expect, met());
    const nodeIds = peers.map(({ nodeId }) => nodeId);
    const founders = met().filter(({ nodeId }) => nodeIds.includes(nodeId));
    return staticFounding(self(), nodeIds, founders);
  }

  /** A round that agreed before is not lost because the present one has only begun. */
  get #areMeeting(): boolean {
    const age = this.#parts.clock.monotonicMs() - this.#greetedAt;
    return this.#agreedAt !== undefined && age < meetAgainMs;
  }

  #isSettled(): boolean {
    if (this.#parts.options.discovery === undefined) return true;
    const agreedBefore = this.#agreedAt !== undefined && this.#agreedAt < this.#greetedAt;
    this.#agreedAt ??= this.#parts.clock.monotonicMs();
    return agreedBefore;
  }

  #wait(why: string): void {
    this.#agreedAt = undefined;
    if (why !== this.#why) this.#parts.waiting(why);
    this.#why = why;
  }

  /** Static addresses are greeted once and redialled by their links; discovered ones afresh each round. */
  #greet(): void {
    const { clock, discovery, options } = this.#parts;
    const now = clock.monotonicMs();
    const everyMs = options.discovery === undefined ? Number.POSITIVE_INFINITY : rediscoverMs;
    if (now - this.#greetedAt < everyMs && this.#greetedAt > Number.NEGATIVE_INFINITY) return;
    this.#greetedAt = now;
    discovery.addresses().then(
      (addresses) => {
        if (!this.#closed) this.#parts.greet(addresses);
      },
      (error: unknown) => this.#wait(`discovery: ${String(error)}`),
    );
  }
}
