// What a running member looks after once a second, besides the protocol: nodes that want in, a suspicion that has been
// settled, a disk that fills up; and once a week, files that nobody has read since.
import type { Config } from '../core/types.ts';
import type { Candidate } from '../membership/bootstrap.ts';
import { changeDue, type RecruitPolicy } from '../membership/recruit.ts';
import type { Cancel, Clock } from './clock.ts';
import { type Space, type SpaceHealth, spaceHealth } from './disk-watch.ts';
import type { MembershipChange } from './host.ts';

export interface Duties {
  readonly clock: Clock;
  readonly policy: RecruitPolicy;
  /** Undefined unless this member leads. */
  readonly leads: () => Config | undefined;
  readonly met: () => readonly Candidate[];
  readonly change: (change: MembershipChange) => void;
  readonly isSuspect: () => boolean;
  /** Makes the end of a suspicion durable. */
  readonly trust: () => Promise<void>;
  readonly measure: () => Promise<Space>;
  /** Reads all checkpoint files that are kept. */
  readonly audit: () => Promise<void>;
  readonly notice: (text: string) => void;
}

const everyMs = 1_000;
const auditEveryMs = 7 * 24 * 60 * 60 * 1_000;

export class Caretaker {
  readonly #duties: Duties;
  #timer: Cancel = () => {};
  #wasSuspect: boolean;
  #space: SpaceHealth = 'fine';
  #auditAt: number;

  constructor(duties: Duties) {
    this.#duties = duties;
    this.#wasSuspect = duties.isSuspect();
    this.#auditAt = duties.clock.monotonicMs() + auditEveryMs;
    this.#wait();
  }

  /** As measured last; 'full' refuses proposals. */
  get space(): SpaceHealth {
    return this.#space;
  }

  close(): void {
    this.#timer();
  }

  #wait(): void {
    this.#timer = this.#duties.clock.after(everyMs, () => {
      this.#wait();
      this.#recruit();
      this.#settle();
      this.#measure();
      this.#audit();
    });
  }

  #recruit(): void {
    const config = this.#duties.leads();
    if (config === undefined || config.outgoing.length > 0) return;
    const due = changeDue(config, this.#duties.met(), this.#duties.policy);
    if (due !== undefined) this.#duties.change(due);
  }

  #settle(): void {
    if (!this.#wasSuspect || this.#duties.isSuspect()) return;
    this.#wasSuspect = false;
    this.#report('the suspicion is settled: nothing acknowledged is missing', this.#duties.trust());
  }

  #measure(): void {
    const measured = this.#duties.measure().then((space) => {
      const health = spaceHealth(space);
      if (health !== this.#space) this.#duties.notice(`disk space is ${health}: ${space.freeBytes} bytes free`);
      this.#space = health;
    });
    measured.catch((error: unknown) => this.#duties.notice(`disk space cannot be measured: ${String(error)}`));
  }

  #audit(): void {
    const now = this.#duties.clock.monotonicMs();
    if (now < this.#auditAt) return;
    this.#auditAt = now + auditEveryMs;
    const audit = this.#duties.audit();
    audit.catch((error: unknown) => this.#duties.notice(`checkpoints cannot be checked: ${String(error)}`));
  }

  #report(text: string, done: Promise<void>): void {
    done.then(
      () => this.#duties.notice(text),
      (error: unknown) => this.#duties.notice(`${text}, but the marker stays: ${String(error)}`),
    );
  }
}
