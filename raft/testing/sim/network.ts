// Links between slots: delay, loss, duplication, late replay, blocked and clogged directions.
import type { Message } from '../../core/message.ts';
import type { Chance } from './chance.ts';
import type { NetworkPlan } from './plan.ts';

export interface NetworkWorld {
  now(): number;
  /** Plans the delivery, unless `isWanted` says no by then; the receiver is looked up when it happens. */
  deliver(at: number, to: number, message: Message, isWanted?: (() => boolean) | undefined): void;
}

interface Arrival {
  readonly at: number;
  readonly isReplay: boolean;
}

const noArrivals: readonly Arrival[] = [];

export class SimNetwork {
  readonly #chance: Chance;
  readonly #plan: NetworkPlan;
  readonly #world: NetworkWorld;
  readonly #slots: number;
  /** Until when a direction carries nothing; `from * slots + to`. */
  readonly #blockedUntil: number[];
  readonly #cloggedUntil: number[];
  #burst = { untilMs: 0, delayMs: 0 };
  readonly #lostUntil = new Map<Message['type'], number>();
  #isQuiet = false;
  sent = 0;
  lost = 0;
  duplicated = 0;
  replayed = 0;

  constructor(slots: number, plan: NetworkPlan, chance: Chance, world: NetworkWorld) {
    this.#slots = slots;
    this.#plan = plan;
    this.#chance = chance;
    this.#world = world;
    this.#blockedUntil = new Array(slots * slots).fill(0);
    this.#cloggedUntil = new Array(slots * slots).fill(0);
  }

  block(from: number, to: number, untilMs: number): void {
    const link = from * this.#slots + to;
    this.#blockedUntil[link] = Math.max(this.#blockedUntil[link]!, untilMs);
  }

  /** Restores both directions. */
  reconnect(one: number, other: number): void {
    this.#blockedUntil[one * this.#slots + other] = 0;
    this.#blockedUntil[other * this.#slots + one] = 0;
  }

  clog(from: number, to: number, untilMs: number): void {
    this.#cloggedUntil[from * this.#slots + to] = untilMs;
  }

  /** No message of this type arrives anywhere. */
  loseKind(type: Message['type'], untilMs: number): void {
    this.#lostUntil.set(type, untilMs);
  }

  burst(untilMs: number, delayMs: number): void {
    this.#burst = { untilMs, delayMs };
  }

  /** From now on the links among these slots are good, and stay so; those to others stay as they are. */
  heal(slots: readonly number[]): void {
    this.#isQuiet = true;
    this.#lostUntil.clear();
    this.#burst = { untilMs: 0, delayMs: 0 };
    for (const from of slots) {
      for (const to of slots) {
        this.#blockedUntil[from * this.#slots + to] = 0;
        this.#cloggedUntil[from * this.#slots + to] = 0;
      }
    }
  }

  /** From now on nothing gets in or out there. */
  cutOff(slot: number): void {
    for (let other = 0; other < this.#slots; other += 1) {
      this.block(slot, other, Number.POSITIVE_INFINITY);
      this.block(other, slot, Number.POSITIVE_INFINITY);
    }
  }

  send(from: number, to: number, message: Message): void {
    this.sent += 1;
    const isLostKind = this.#world.now() < (this.#lostUntil.get(message.type) ?? 0);
    const arrivals = this.#arrivals(from, to, isLostKind);
    if (arrivals.length === 0) this.lost += 1;
    for (let i = 0; i < arrivals.length; i += 1) {
      const { at, isReplay } = arrivals[i]!;
      if (i === 0) {
        this.#world.deliver(at, to, message);
        continue;
      }
      if (isReplay) this.replayed += 1;
      else this.duplicated += 1;
      // In peace no node repeats the message of a node that may be gone for ever: a dead leader would seem alive.
      this.#world.deliver(at, to, message, isReplay ? () => !this.#isQuiet : undefined);
    }
  }

  /**
   * Returns the delays of bytes on another connection between the same machines: they arrive never, once, or again and
   * again.
   */
  arrivals(from: number, to: number): number[] {
    return this.#arrivals(from, to, false).map(({ at }) => at);
  }

  #arrivals(from: number, to: number, isLost: boolean): readonly Arrival[] {
    const now = this.#world.now();
    const link = from * this.#slots + to;
    const { loss, duplicate, replay } = this.#plan;
    if (now < this.#blockedUntil[link]! || isLost || this.#chance.happens(this.#isQuiet ? 0 : loss)) return noArrivals;
    const arrivals: Arrival[] = [{ at: this.#arrival(now, link), isReplay: false }];
    if (this.#isQuiet) return arrivals;
    if (this.#chance.happens(duplicate)) arrivals.push({ at: this.#arrival(now, link), isReplay: false });
    if (this.#chance.happens(replay)) arrivals.push({ at: now + this.#chance.between(100, 60_000), isReplay: true });
    return arrivals;
  }

  #arrival(now: number, link: number): number {
    const { minDelayMs, meanDelayMs } = this.#plan;
    if (this.#isQuiet) return now + this.#chance.between(0.2, 3);
    const burst = now < this.#burst.untilMs ? this.#chance.exponential(this.#burst.delayMs) : 0;
    const earliest = Math.max(now, this.#cloggedUntil[link]!);
    return earliest + minDelayMs + this.#chance.exponential(meanDelayMs) + burst;
  }
}
