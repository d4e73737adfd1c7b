import { expect } from 'chai';
import { Deadline, Timed, Wheel } from '../../../src/proxy/wheel.ts';
import type { Clock } from '../../../src/util/clock.ts';
import { seededRandom } from '../../support/mutation.ts';

class HandClock implements Clock {
  #nowMs = 0;
  #waiting: { at: number; run: () => void }[] = [];
  /** Delay of a timer behind its due time. */
  lateMs = () => 0;
  nowMs = () => this.#nowMs;
  monotonicMs = () => this.#nowMs;
  after(delayMs: number, run: () => void): () => void {
    const entry = { at: this.#nowMs + delayMs + this.lateMs(), run };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
  }
  advance(ms: number): void {
    for (const end = this.#nowMs + ms; this.#nowMs < end; ) {
      this.#nowMs = Math.min(
        end,
        this.#waiting.reduce((min, { at }) => Math.min(min, at), end),
      );
      const due = this.#waiting.filter(({ at }) => at <= this.#nowMs);
      this.#waiting = this.#waiting.filter(({ at }) => at > this.#nowMs);
      for (const { run } of due) run();
    }
  }
  get waiting(): number {
    return this.#waiting.length;
  }
}

class Member extends Timed {
  firedMs = -1;
  readonly #clock: Clock;
  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }
  override onDeadline(): void {
    this.firedMs = this.#clock.monotonicMs();
  }
}

describe('the timer wheel', () => {
  let clock: HandClock;
  let wheel: Wheel;
  beforeEach(() => {
    clock = new HandClock();
    wheel = new Wheel(clock);
  });

  it('fires no earlier than armed for and at most two slots later, over many turns', () => {
    const random = seededRandom(1);
    const members = Array.from({ length: 500 }, () => ({
      member: new Member(clock),
      ms: Math.floor(random() * 200_000),
    }));
    for (const { member, ms } of members) wheel.arm(member, ms);
    clock.advance(201_000);
    for (const { member, ms } of members) expect(member.firedMs).to.be.within(ms, ms + 100);
  });

  it('fires no earlier than armed for where the timer beneath it is late', () => {
    const random = seededRandom(2);
    const members: { member: Member; dueMs: number }[] = [];
    wheel.arm(new Member(clock), 100_000);
    clock.lateMs = () => random() * 60;
    for (let armed = 0; armed < 500; armed++) {
      const ms = Math.floor(random() * 1_000);
      const member = new Member(clock);
      members.push({ member, dueMs: clock.monotonicMs() + ms });
      wheel.arm(member, ms);
      clock.advance(random() * 40);
    }
    clock.advance(2_000);
    for (const { member, dueMs } of members) expect(member.firedMs).to.be.within(dueMs, dueMs + 160);
  });

  it('obeys the last word: put off, brought forward, disarmed, removed', () => {
    const [later, sooner, never, gone] = [new Member(clock), new Member(clock), new Member(clock), new Member(clock)];
    for (const member of [later, sooner, never, gone]) wheel.arm(member, 1_000);
    wheel.arm(later, 3_000);
    wheel.arm(sooner, 200);
    wheel.disarm(never);
    wheel.remove(gone);
    clock.advance(5_000);
    expect(later.firedMs).to.be.within(3_000, 3_100);
    expect(sooner.firedMs).to.be.within(200, 300);
    expect([never.firedMs, gone.firedMs]).to.deep.equal([-1, -1]);
  });

  it('lets what fires remove, arm and re-arm others of the same slot', () => {
    const fired: string[] = [];
    const victim = new Deadline(() => fired.push('victim'));
    const again = new Deadline(() => {
      fired.push('again');
      if (fired.length < 5) wheel.arm(again, 0);
    });
    const first = new Deadline(() => {
      fired.push('first');
      wheel.remove(victim);
    });
    for (const member of [first, victim, again]) wheel.arm(member, 100);
    clock.advance(2_000);
    expect(fired).to.deep.equal(['first', 'again', 'again', 'again', 'again']);
  });

  it('stands still while nothing is armed', () => {
    const member = new Member(clock);
    wheel.arm(member, 100);
    clock.advance(300);
    expect(clock.waiting).to.equal(0);
    clock.advance(10_000);
    wheel.arm(member, 100);
    clock.advance(200);
    expect(member.firedMs).to.be.within(10_400, 10_500);
  });

  it('catches up after a stall', () => {
    const member = new Member(clock);
    wheel.arm(member, 70_000);
    clock.nowMs();
    clock.advance(500_000);
    expect(member.firedMs).to.be.within(70_000, 70_100);
  });
});
