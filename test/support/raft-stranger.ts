// A process that speaks raft's protocol and is no node of the cluster: it dials a member, shows what it is given to show,
// and says what a test wants said.
import { capability, type Greeting } from '../../raft/codec/greeting.ts';
import type { Message } from '../../raft/core/message.ts';
import { memberId } from '../../raft/core/types.ts';
import { systemClock } from '../../raft/member/system-clock.ts';
import { TcpTransport } from '../../raft/transport/tcp-transport.ts';
import { eventually } from './eventually.ts';

export interface StrangerOptions {
  readonly nodeId?: string;
  readonly incarnation?: number;
  /** Default 1; a process that takes a member's identity has to have started more often. */
  readonly boots?: number;
  readonly clusterToken?: string | undefined;
  /** `127.0.0.1:port` of the member's raft port. */
  readonly victim: string;
}

export class RaftStranger {
  /** Reasons for which connections came to nothing. */
  readonly refusals: string[] = [];
  readonly received: Message[] = [];
  readonly #transport: TcpTransport;
  #greeting: Greeting;

  private constructor({ nodeId = 'stranger', incarnation = 666, boots = 1, clusterToken }: StrangerOptions) {
    this.#greeting = {
      clusterId: undefined,
      nodeId,
      incarnation,
      boots,
      run: Math.floor(Math.random() * 2 ** 40),
      address: '127.0.0.1:1',
      clientAddress: '127.0.0.1:1',
      lastIndex: 0,
      lastTerm: 0,
      expects: [],
      keyFingerprint: '',
      capabilities: capability.sealedRecords,
    };
    this.#transport = new TcpTransport({
      bind: { host: '127.0.0.1', port: 0 },
      tls: undefined,
      clusterToken,
      clock: systemClock,
      random: () => 0,
      isRemoved: () => false,
      self: () => ({ id: memberId(this.#greeting), clusterId: this.#greeting.clusterId }),
      greeting: () => this.#greeting,
      subscriber: {
        greeted: () => undefined,
        removed: () => undefined,
        contacted: () => undefined,
        failed: (_address, reason) => this.refusals.push(reason),
      },
    });
  }

  /** Dials the member; whether it is let in shows in `refusals`, or by `meet`. */
  static async dial(options: StrangerOptions): Promise<RaftStranger> {
    const stranger = new RaftStranger(options);
    await stranger.#transport.listen();
    stranger.#transport.start({
      receive: (message) => stranger.received.push(message),
      unreachable: () => undefined,
    });
    stranger.#transport.setHints([options.victim]);
    return stranger;
  }

  get id(): string {
    return memberId(this.#greeting);
  }

  /** Resolves with the greeting of the member, once it has let this process in. */
  async meet(): Promise<Greeting> {
    const met = await eventually(() => {
      const [greeting] = this.#transport.met();
      if (greeting === undefined) throw new Error(`not let in: ${this.refusals.join(', ')}`);
      return greeting;
    });
    this.#greeting = { ...this.#greeting, clusterId: met.clusterId };
    return met;
  }

  send(message: Message): void {
    this.#transport.send(message);
  }

  close(): void {
    this.#transport.close();
  }
}
