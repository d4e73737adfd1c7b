// Clients: each does one thing after another against some node, and notes what it asked and what it was told.
import type { Index } from '../../core/types.ts';
import type { Outcome } from '../../driver/driver-host.ts';
import type { Operation } from '../history/history.ts';
import type { Chance } from './chance.ts';
import type { LoadPlan } from './plan.ts';
import type { Users } from './program.ts';
import { stateOf } from './sim-host.ts';
import type { SimNode } from './sim-node.ts';
import { encodeOp } from './state-machine.ts';

const registers = 5;
/** Share of the writes that begin a burst, in seeds that have bursts. */
const burstShare = 0.03;

export interface WorkloadWorld {
  now(): number;
  at(time: number, slot: number, run: () => void): void;
}

export interface WorkloadAudience {
  /** The clients begin. */
  begun(): void;
  /** Notes that a client got the index of its write. */
  acknowledged(op: number, register: number, index: Index): void;
  /** The process there ended. */
  lost(node: SimNode): void;
}

interface Open {
  readonly op: number;
  /** Client that goes on after the operation; undefined for the rest of a burst, which has none. */
  readonly client: number | undefined;
  readonly slot: number;
  readonly register: number;
  readonly kind: 'write' | 'read';
  readonly invokedAt: number;
  /** Position that this node must have applied before it answers. */
  waitsFor: Index | undefined;
}

export class Workload implements Users {
  readonly #nodes: readonly SimNode[];
  readonly #world: WorkloadWorld & WorkloadAudience;
  readonly #plan: LoadPlan;
  readonly #chance: Chance;
  readonly history: Operation[] = [];
  readonly #registerOf: number[] = [0];
  readonly #open = new Map<number, Open>();
  #leaderSlot = 0;
  #isStopped = false;
  #isSettled = false;
  #settledAt = 0;
  lastReadAt = 0;
  acknowledged = 0;
  /** Time of the last acknowledged write. */
  lastAckedAt = 0;

  constructor(nodes: readonly SimNode[], plan: LoadPlan, chance: Chance, world: WorkloadWorld & WorkloadAudience) {
    this.#nodes = nodes;
    this.#plan = plan;
    this.#chance = chance;
    this.#world = world;
  }

  get openCount(): number {
    return this.#open.size;
  }

  registerOf(op: number): number {
    return this.#registerOf[op] ?? 0;
  }

  start(): void {
    for (let client = 0; client < this.#plan.clients; client += 1) this.#next(client, this.#chance.between(0, 2_000));
    this.#world.begun();
  }

  /** From now on clients know who leads: what is well must serve them. */
  settle(): void {
    this.#isSettled = true;
    this.#settledAt = this.#world.now();
  }

  stop(): void {
    this.#isStopped = true;
  }

  leads(slot: number): void {
    this.#leaderSlot = slot;
  }

  #next(client: number, afterMs: number): void {
    this.#world.at(this.#world.now() + afterMs, -1, () => {
      if (!this.#isStopped) this.#issue(client);
    });
  }

  #issue(client: number): void {
    const slot = this.#chooseSlot(client);
    const node = this.#nodes[slot]!;
    if (!node.isUp) {
      this.#leaderSlot = this.#chance.below(this.#nodes.length);
      this.#next(client, this.#chance.between(20, 100));
      return;
    }
    const kind = this.#wantsRead() ? 'read' : 'write';
    this.#begin(client, node, kind);
    if (kind === 'write' && this.#isBurst()) this.#beginBurst(node);
  }

  #isBurst(): boolean {
    return this.#plan.burst > 0 && !this.#isSettled && this.#chance.happens(burstShare);
  }

  #beginBurst(node: SimNode): void {
    for (let more = 0; more < this.#plan.burst; more += 1) this.#begin(undefined, node, 'write');
  }

  #begin(client: number | undefined, node: SimNode, kind: 'read' | 'write'): void {
    const { slot } = node;
    const register = this.#chance.below(registers);
    const op = this.#registerOf.length;
    this.#registerOf.push(register);
    this.#open.set(op, { op, client, slot, register, kind, invokedAt: this.#world.now(), waitsFor: undefined });
    // The client gives up; what it asked for may still happen.
    this.#world.at(this.#world.now() + 10_000, -1, () => this.#close(op, 'unknown'));
    this.#world.at(this.#world.now(), slot, () => this.#ask(node, kind, op));
  }

  /** In peace a read comes first: it must succeed without any write that helps. */
  #wantsRead(): boolean {
    if (this.#isSettled) return this.lastReadAt < this.#settledAt;
    return this.#chance.happens(this.#plan.reads);
  }

  #chooseSlot(client: number): number {
    if (this.#isSettled || client < (this.#plan.informed ?? 0))
      return this.#nodes.find((node) => node.driver?.inspect().role === 'leader')?.slot ?? 0;
    return this.#chance.happens(0.8) ? this.#leaderSlot : this.#chance.below(this.#nodes.length);
  }

  #ask(node: SimNode, kind: 'read' | 'write', op: number): void {
    if (!node.isUp) this.#close(op, kind === 'write' ? 'notApplied' : 'unknown');
    else if (kind === 'read') node.driver?.read(op);
    else node.driver?.propose(op, encodeOp(op, this.#chance.pick([4, 4, 40, 300])));
  }

  outcome(node: SimNode, op: number, outcome: Outcome): void {
    const open = this.#open.get(op);
    if (open === undefined) return;
    if (outcome.kind === 'committed') this.#whenApplied(node, open, outcome.index);
    else this.#close(op, outcome.kind);
  }

  readable(node: SimNode, op: number, index: Index | undefined): void {
    const open = this.#open.get(op);
    if (open === undefined) return;
    if (index === undefined) this.#close(op, 'unknown');
    else this.#whenApplied(node, open, index);
  }

  #whenApplied(node: SimNode, open: Open, index: Index): void {
    open.waitsFor = index;
    if ((node.host?.applied ?? 0) >= index) this.#answer(node, open);
  }

  /** This node has applied more. */
  applied(node: SimNode): void {
    const applied = node.host?.applied ?? 0;
    for (const open of this.#open.values())
      if (open.slot === node.slot && open.waitsFor !== undefined && open.waitsFor <= applied) this.#answer(node, open);
  }

  #answer(node: SimNode, open: Open): void {
    const state = stateOf(node.host);
    if (state === undefined) return;
    if (open.kind === 'write') this.#close(open.op, 'ok', open.waitsFor);
    else this.#close(open.op, 'ok', state.applied, state.registers.get(open.register) ?? 0);
  }

  /** Notes that the process there ended: no answer will come. */
  lost(node: SimNode): void {
    for (const { op, slot } of [...this.#open.values()]) if (slot === node.slot) this.#close(op, 'unknown');
    this.#world.lost(node);
  }

  #close(op: number, outcome: Operation['outcome'], index?: Index, value?: number): void {
    const open = this.#open.get(op);
    if (open === undefined) return;
    this.#open.delete(op);
    const now = this.#world.now();
    const { register, kind, invokedAt, client } = open;
    this.history.push({ op, register, kind, invokedAt, returnedAt: now, outcome, index, value });
    if (outcome === 'ok' && kind === 'write') {
      this.acknowledged += 1;
      this.lastAckedAt = now;
      if (index !== undefined) this.#world.acknowledged(op, register, index);
    }
    if (outcome === 'ok' && kind === 'read' && invokedAt >= this.#settledAt) this.lastReadAt = now;
    if (outcome !== 'ok') this.#leaderSlot = this.#chance.below(this.#nodes.length);
    if (client === undefined) return;
    this.#next(client, this.#chance.exponential(outcome === 'ok' ? this.#plan.thinkMs : 100));
  }
}
