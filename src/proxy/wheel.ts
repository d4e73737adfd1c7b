// Deadlines of a worker: a wheel of 50 ms slots (proxy.md, Deadlines). What has a deadline is itself a member of a
// slot's list, so arming, moving and disarming allocate nothing, and a deadline that is only ever put off is moved
// once per slot it passes, not once per request.
import type { Cancel, Clock } from '../util/clock.ts';

const slotMs = 50;
const slots = 1024;
/** Longest delay that is counted from now, not from the tick. */
const exactMsMax = 5_000;
const never = Number.POSITIVE_INFINITY;

/** Something with at most one deadline at a time. */
export abstract class Timed {
  /** Neighbours in the slot; undefined while in none. Only the wheel touches these. */
  before: Timed | undefined;
  after: Timed | undefined;
  /** Tick of the slot it is in. */
  slotTick = 0;
  /** Tick at which it is due; never earlier than its slot. */
  dueTick = never;

  get armed(): boolean {
    return this.dueTick !== never;
  }

  /**
   * Called once, no earlier than armed for (a long delay may end two slots early) and at most two slots later. Not armed
   * any more by then.
   */
  abstract onDeadline(): void;
}

/** A deadline that calls a function; for things with more than one. */
export class Deadline extends Timed {
  readonly #act: () => void;

  constructor(act: () => void) {
    super();
    this.#act = act;
  }

  override onDeadline(): void {
    this.#act();
  }
}

class Slot extends Timed {
  constructor() {
    super();
    this.before = this;
    this.after = this;
  }
  override onDeadline(): void {}
}

export class Wheel {
  readonly #clock: Clock;
  readonly #slots = Array.from({ length: slots }, () => new Slot());
  readonly #passing = new Slot();
  readonly #startMs: number;
  #tick = 0;
  #members = 0;
  #cancel: Cancel | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  /** Monotonic milliseconds, exact to a slot while anything is armed. */
  get nowMs(): number {
    return this.#startMs + this.#tick * slotMs;
  }

  /** Takes the place of the member's former deadline. */
  arm(member: Timed, delayMs: number): void {
    if (this.#cancel === undefined) this.#startTicking();
    const due = this.#dueTick(delayMs);
    member.dueTick = due;
    if (member.after === undefined) this.#enter(member);
    else if (due < member.slotTick) {
      this.#leave(member);
      this.#enter(member);
    }
  }

  /** Cheap; the member may stay known to the wheel until its slot comes up. */
  disarm(member: Timed): void {
    member.dueTick = never;
  }

  /** Forgets the member at once: it is not going to be armed again. */
  remove(member: Timed): void {
    member.dueTick = never;
    if (member.after !== undefined) this.#leave(member);
  }

  /**
   * The tick is behind the clock by as much as its timer is late, which counts for short delays; long ones, which each
   * request arms, do not ask the clock.
   */
  #dueTick(delayMs: number): number {
    if (delayMs > exactMsMax) return this.#tick + Math.ceil(delayMs / slotMs) + 1;
    const due = Math.ceil((this.#clock.monotonicMs() - this.#startMs + delayMs) / slotMs);
    return Math.max(due, this.#tick + 1);
  }

  #startTicking(): void {
    this.#tick = Math.floor((this.#clock.monotonicMs() - this.#startMs) / slotMs);
    this.#cancel = this.#clock.after(slotMs, this.#turn);
  }

  readonly #turn = (): void => {
    const reached = Math.floor((this.#clock.monotonicMs() - this.#startMs) / slotMs);
    // After a long stall one turn of the wheel sees every member.
    if (reached - this.#tick > slots) this.#tick = reached - slots;
    while (this.#tick < reached) {
      this.#tick++;
      this.#visit(this.#slots[this.#tick % slots]);
    }
    this.#cancel = this.#members > 0 ? this.#clock.after(slotMs, this.#turn) : undefined;
  };

  /** Members that come back to this slot wait for its next turn, so they are taken out of it first. */
  #visit(slot: Slot | undefined): void {
    if (slot?.after === undefined || slot.before === undefined || slot.after === slot) return;
    const passing = this.#passing;
    passing.after = slot.after;
    passing.before = slot.before;
    slot.after.before = passing;
    slot.before.after = passing;
    slot.before = slot;
    slot.after = slot;
    for (let member = passing.after; member !== undefined && member !== passing; member = passing.after) {
      this.#leave(member);
      if (member.dueTick <= this.#tick) {
        member.dueTick = never;
        member.onDeadline();
      } else if (member.dueTick !== never) this.#enter(member);
    }
  }

  #enter(member: Timed): void {
    member.slotTick = Math.min(member.dueTick, this.#tick + slots - 1);
    const slot = this.#slots[member.slotTick % slots];
    if (slot === undefined) return;
    member.before = slot.before;
    member.after = slot;
    if (slot.before !== undefined) slot.before.after = member;
    slot.before = member;
    this.#members++;
  }

  #leave(member: Timed): void {
    if (member.before !== undefined) member.before.after = member.after;
    if (member.after !== undefined) member.after.before = member.before;
    member.before = undefined;
    member.after = undefined;
    this.#members--;
  }
}
