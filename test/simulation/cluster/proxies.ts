// Proxies of the simulated cluster: each follows some node by the product's stream and takes up the candidates that it
// hears of as the product does, on connections that end or fall silent. Watches that no client is served a candidate
// by a proxy that could know better.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Chance } from '../../../raft/testing/sim/chance.ts';
import type { ProgramWorld } from '../../../raft/testing/sim/program.ts';
import { clusterId } from '../../../raft/testing/sim/sim-node.ts';
import { RemoteCandidates } from '../../../src/control-plane-client/remote-candidates.ts';
import type { Candidate } from '../../../src/model/proxy-config.ts';
import { isUnderWay } from '../../../src/state/rollout.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import type { Clock } from '../../../src/util/clock.ts';
import type { NodeProcess } from './node-process.ts';

const count = 3;
const lookMs = 250;
/** Time within which an agreed command is stored, sent and taken up. */
const graceMs = 3_000;
/** The dead man's time is looked at four times a second. */
const deadGraceMs = 1_000;

/** Serves a share of its clients from a candidate, or none. */
interface Serving {
  readonly rollout: string;
  readonly deadmanMs: number;
}

const servingOf = (candidate: Candidate | undefined): Serving | undefined =>
  candidate === undefined || candidate.share <= 0 ? undefined : candidate;

type ProcessAt = (slot: number) => NodeProcess | undefined;

export class SimProxies {
  readonly #world: ProgramWorld;
  readonly #processAt: ProcessAt;
  readonly #proxies: readonly SimProxy[];
  /** Times at which each process was first seen with the end of a rollout, and last with a leader. */
  readonly #ends = new WeakMap<NodeProcess, Map<string, number>>();
  readonly #ledAt = new WeakMap<NodeProcess, number>();
  constructor(world: ProgramWorld, chance: Chance, processAt: ProcessAt) {
    this.#world = world;
    this.#processAt = processAt;
    this.#proxies = Array.from({ length: count }, (_, at) => new SimProxy(`p${at}`, world, chance.fork(), processAt));
  }

  start(): void {
    for (const proxy of this.#proxies) proxy.start();
    this.#look();
  }

  /** The network is well from now on. */
  settle(): void {
    for (const proxy of this.#proxies) proxy.settle();
  }

  #look(): void {
    const { at, now, nodes } = this.#world;
    at(now() + lookMs, -1, () => {
      for (const { slot } of nodes) this.#lookAt(slot);
      for (const proxy of this.#proxies) this.#judge(proxy);
      this.#look();
    });
  }

  #lookAt(slot: number): void {
    const process = this.#processAt(slot);
    if (process === undefined || process.life.isOver) return;
    const now = this.#world.now();
    const ends = this.#ends.get(process) ?? new Map<string, number>();
    this.#ends.set(process, ends);
    for (const rollout of process.view.rollouts) {
      if (!isUnderWay(rollout) && !ends.has(rollout.id)) ends.set(rollout.id, now);
    }
    if (process.log.hasLeader || !this.#ledAt.has(process)) this.#ledAt.set(process, now);
    const serving = servingOf(process.serving);
    if (serving === undefined || this.#wasPaused(slot)) return;
    // R6, R7 of the proxy within the node.
    this.#expectOver(`the proxy within node ${slot + 1}`, serving, ends.get(serving.rollout));
    const silentMs = now - (this.#ledAt.get(process) ?? now);
    if (silentMs > serving.deadmanMs + deadGraceMs) {
      this.#fail('R7', `node ${slot + 1} serves ${serving.rollout} ${silentMs} ms after it knew a leader last`);
    }
  }

  #judge({ id, serving, heardMs, stream }: SimProxy): void {
    if (serving === undefined) return;
    const silentMs = this.#world.now() - heardMs;
    if (silentMs > serving.deadmanMs + deadGraceMs) {
      this.#fail('R7', `${id} serves ${serving.rollout} ${silentMs} ms after it heard of anybody`);
    }
    if (stream === undefined || stream.isSilent || this.#wasPaused(stream.slot)) return;
    const process = this.#processAt(stream.slot);
    const endedAt = process === undefined ? undefined : this.#ends.get(process)?.get(serving.rollout);
    if (endedAt !== undefined) this.#expectOver(id, serving, Math.max(endedAt, stream.openedAt));
  }

  /** R6: what is over is served by no proxy that is in contact. */
  #expectOver(who: string, { rollout }: Serving, sinceMs: number | undefined): void {
    if (sinceMs === undefined || this.#world.now() - sinceMs <= graceMs) return;
    this.#fail('R6', `${who} serves the candidate of rollout ${rollout}, which is over since ${sinceMs} ms`);
  }

  #fail(rule: string, detail: string): void {
    this.#world.fail(rule, detail);
  }

  #wasPaused(slot: number): boolean {
    const node = this.#world.nodes[slot];
    // While the host stalls no timer of the process runs either.
    return node !== undefined && this.#world.now() - Math.max(node.pausedUntilMs, node.hostStalledUntilMs) < graceMs;
  }
}

class SimProxy {
  readonly id: string;
  readonly #world: ProgramWorld;
  readonly #chance: Chance;
  readonly #processAt: ProcessAt;
  readonly #candidates: RemoteCandidates;
  serving: Serving | undefined;
  heardMs = 0;
  stream: SimStream | undefined;
  #isSettled = false;

  constructor(id: string, world: ProgramWorld, chance: Chance, processAt: ProcessAt) {
    this.id = id;
    this.#world = world;
    this.#chance = chance;
    this.#processAt = processAt;
    this.#candidates = new RemoteCandidates({ clock: clockOf(world), logger: silentLogger, onWord: () => undefined });
    this.#candidates.subscribe((candidate) => {
      this.serving = servingOf(candidate);
      // R8: a shadow step serves no client.
      if (candidate?.shadowSample !== undefined && candidate.share > 0)
        world.fail('R8', `${id} serves ${candidate.share} % of a candidate that is only compared`);
      world.note(this.serving === undefined ? 0 : 1, Number(id.slice(1)));
      if (candidate !== undefined) {
        this.#candidates.settle(candidate.rollout, { isLive: true, problems: [], tookMs: 1 });
      }
    });
  }

  start(): void {
    this.#connect();
    this.#report();
  }

  settle(): void {
    this.#isSettled = true;
  }

  #connect(): void {
    const { at, now, nodes } = this.#world;
    const slot = this.#chance.below(nodes.length);
    at(now() + this.#chance.between(20, 1_000), slot, () => {
      const process = this.#processAt(slot);
      if (process === undefined || process.life.isOver) {
        at(now(), -1, () => this.#connect());
        return;
      }
      const { rollout, heard } = this.#candidates;
      const headers: Record<string, string> = { 'x-sluice-proxy': this.id };
      if (rollout !== undefined) headers['x-sluice-candidate'] = `${rollout} ${clusterId} ${heard.index}`;
      const stream = new SimStream(this.#world, this.#chance.fork(), process, slot, headers);
      this.stream = stream;
      stream.onBytes = (text) => this.#hear(text);
      stream.onEnd = () => {
        if (this.stream !== stream) return;
        this.stream = undefined;
        this.#connect();
      };
      this.#heard();
      this.#candidates.opened(clusterId);
      process.follow(stream as unknown as ServerResponse);
      if (!this.#isSettled) this.#disturb(stream);
    });
  }

  /** A connection ends, or falls silent for a while first. */
  #disturb(stream: SimStream): void {
    const { at, now } = this.#world;
    at(now() + this.#chance.exponential(15_000), -1, () => {
      if (this.#isSettled) return;
      if (this.#chance.happens(0.5)) stream.isSilent = true;
      const silentMs = stream.isSilent ? this.#chance.between(500, 30_000) : 0;
      at(now() + silentMs, -1, () => stream.end());
    });
  }

  /** An accepted report is a sign of life of the control plane. Some get lost. */
  #report(): void {
    const { at, now } = this.#world;
    at(now() + 1_000, -1, () => {
      const process = this.stream && this.#processAt(this.stream.slot);
      const isLost = process === undefined || this.stream?.isSilent === true || this.#chance.happens(0.3);
      if (!isLost) this.#heard();
      this.#report();
    });
  }

  #heard(): void {
    this.heardMs = this.#world.now();
    this.#candidates.contact();
  }

  #hear(text: string): void {
    this.#heard();
    for (const [, event = '', id, data = ''] of text.matchAll(/event: (\w+)\nid: (\d+)\ndata: (.*)\n\n/g)) {
      if (event !== 'snapshot' && event !== 'current') this.#candidates.onEvent({ event, id, data });
    }
  }
}

/** As much of a response as the stream of a node needs: what is written arrives a little later, in order, or not at all. */
class SimStream {
  readonly slot: number;
  readonly req: Pick<IncomingMessage, 'method' | 'headers'>;
  readonly socket = undefined;
  readonly openedAt: number;
  readonly #world: ProgramWorld;
  readonly #chance: Chance;
  readonly #closed: (() => void)[] = [];
  readonly #process: NodeProcess;
  onBytes: (text: string) => void = () => undefined;
  onEnd: () => void = () => undefined;
  isSilent = false;
  destroyed = false;
  writableEnded = false;
  readonly writableNeedDrain = false;
  #arrivedAt = 0;

  constructor(
    world: ProgramWorld,
    chance: Chance,
    process: NodeProcess,
    slot: number,
    headers: Readonly<Record<string, string>>,
  ) {
    this.#world = world;
    this.#chance = chance;
    this.#process = process;
    this.slot = slot;
    this.req = { method: 'GET', headers };
    this.openedAt = world.now();
    process.life.onEnd(() => this.end());
  }

  writeHead(): void {}

  flushHeaders(): void {}

  on(_event: 'close', closed: () => void): void {
    this.#closed.push(closed);
  }

  once(_event: 'close', closed: () => void): void {
    this.#closed.push(closed);
  }

  write(bytes: Buffer | string, written?: () => void): void {
    const { at, now } = this.#world;
    this.#arrivedAt = Math.max(this.#arrivedAt, now() + this.#chance.between(1, 50));
    const text = bytes.toString();
    at(this.#arrivedAt, -1, () => {
      if (this.destroyed) return;
      if (!this.isSilent) this.onBytes(text);
      // To a peer that is silent nothing leaves any more.
      if (!this.isSilent && written !== undefined) this.#process.life.later(0, written);
    });
  }

  /** Ends the connection on both sides. */
  end(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.writableEnded = true;
    if (!this.#process.life.isOver) {
      this.#process.life.later(0, () => {
        for (const closed of this.#closed) closed();
      });
    }
    this.#world.at(this.#world.now() + this.#chance.between(1, 100), -1, () => this.onEnd());
  }

  destroy(): void {
    this.end();
  }
}

function clockOf({ now, at }: ProgramWorld): Clock {
  return {
    nowMs: () => now(),
    monotonicMs: () => now(),
    after: (ms, run) => {
      let isCancelled = false;
      // As Node's timers: a wait that is lost in rounding would be asked for again and again at the same moment.
      at(now() + Math.max(1, ms), -1, () => {
        if (!isCancelled) run();
      });
      return () => {
        isCancelled = true;
      };
    },
  };
}
