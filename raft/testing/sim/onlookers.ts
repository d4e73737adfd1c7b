// Those who look at single nodes without asking a quorum: sessions, which read at whichever node what they wrote, and
// proxies, which follow the activations of one node and move on when it ends. Nothing they do reaches a node, and
// their chance is their own.
import type { Index } from '../../core/types.ts';
import type { Chance } from './chance.ts';
import type { ContentChecks } from './content-checks.ts';
import { stateOf } from './sim-host.ts';
import type { SimNode } from './sim-node.ts';
import type { Activation } from './state-machine.ts';
import type { WorkloadWorld } from './workload.ts';

/** Share of the acknowledged writes. */
const sessionShare = 0.3;
const readsPerSession = 3;
const proxyCount = 2;

interface Session {
  readonly register: number;
  readonly asks: Index;
  readonly known: number;
  readonly readsLeft: number;
}

interface Proxy {
  readonly name: string;
  slot: number;
  /** Counts connections: what an earlier one sent is not read any more. */
  connection: number;
  /** Index of the last activation that the node has sent on this connection. */
  sent: Index;
  shown: Index;
}

export class Onlookers {
  readonly #nodes: readonly SimNode[];
  readonly #world: WorkloadWorld;
  readonly #chance: Chance;
  readonly #checks: ContentChecks;
  /** Reads that wait for a node to apply more. */
  readonly #waiting = new Map<number, Session[]>();
  readonly #proxies: Proxy[];

  constructor(nodes: readonly SimNode[], chance: Chance, checks: ContentChecks, world: WorkloadWorld) {
    this.#nodes = nodes;
    this.#chance = chance;
    this.#checks = checks;
    this.#world = world;
    this.#proxies = Array.from({ length: proxyCount }, (_, i) => ({
      ...{ name: `proxy ${i + 1}`, slot: i % nodes.length },
      ...{ connection: 0, sent: 0, shown: 0 },
    }));
  }

  start(): void {
    for (const proxy of this.#proxies) this.#moveLater(proxy);
  }

  /** Notes that a client got the index of its write. */
  acknowledged(op: number, register: number, index: Index): void {
    if (!this.#chance.happens(sessionShare)) return;
    this.#readSomewhere({ register, asks: index, known: op, readsLeft: readsPerSession });
  }

  #readSomewhere(session: Session): void {
    this.#world.at(this.#world.now() + this.#chance.exponential(50), -1, () => {
      const node = this.#chance.pick(this.#nodes);
      if (!node.isUp) return;
      this.#waiting.set(node.slot, [...(this.#waiting.get(node.slot) ?? []), session]);
      this.#answer(node);
    });
  }

  /** A node answers the reads whose revision it has applied. */
  #answer(node: SimNode): void {
    const waiting = this.#waiting.get(node.slot);
    const state = stateOf(node.host);
    if (waiting === undefined || waiting.length === 0 || state === undefined) return;
    const isReady = (session: Session) => session.asks <= state.applied;
    this.#waiting.set(
      node.slot,
      waiting.filter((session) => !isReady(session)),
    );
    for (const { asks, known, readsLeft, register } of waiting.filter(isReady)) {
      const value = state.registers.get(register) ?? 0;
      this.#checks.sessionRead(node.id, { asked: asks, served: state.applied, value, known });
      const next = { register, asks: state.applied, known: value, readsLeft: readsLeft - 1 };
      if (next.readsLeft > 0) this.#readSomewhere(next);
    }
  }

  /** The state of this node has changed. */
  applied(node: SimNode): void {
    this.#answer(node);
    for (const proxy of this.#proxies) if (proxy.slot === node.slot) this.#send(proxy, node);
  }

  #send(proxy: Proxy, node: SimNode): void {
    const activation = stateOf(node.host)?.activation;
    if (activation === undefined || activation.index <= proxy.sent) return;
    this.#checks.event(node.id, proxy.sent, activation);
    proxy.sent = activation.index;
    const { connection } = proxy;
    this.#world.at(this.#world.now() + this.#chance.exponential(5), -1, () => {
      if (connection === proxy.connection) this.#take(proxy, activation);
    });
  }

  /** A node that lags behind sends what was shown long ago. */
  #take(proxy: Proxy, activation: Activation): void {
    if (activation.index <= proxy.shown) return;
    this.#checks.shown(proxy.name, proxy.shown, activation);
    proxy.shown = activation.index;
  }

  #moveLater(proxy: Proxy): void {
    this.#world.at(this.#world.now() + this.#chance.exponential(3_000), -1, () => {
      proxy.slot = this.#chance.below(this.#nodes.length);
      this.#connect(proxy);
      this.#moveLater(proxy);
    });
  }

  #connect(proxy: Proxy): void {
    const node = this.#nodes[proxy.slot]!;
    proxy.connection += 1;
    proxy.sent = 0;
    if (node.isUp) this.#send(proxy, node);
  }

  /** The process there ended; a new one knows nothing of who was connected. */
  lost(node: SimNode): void {
    this.#waiting.delete(node.slot);
    for (const proxy of this.#proxies) {
      if (proxy.slot !== node.slot) continue;
      proxy.slot = this.#chance.below(this.#nodes.length);
      this.#connect(proxy);
    }
  }
}
