// Maintenance of a running member, once a second besides the protocol: nodes that want to join, a suspicion that has
// been settled, a disk that fills up; and once a week, files that have not been read since.
import { type Config, identityOf, type MemberId } from '../core/types.ts';
import type { Cancel, Clock } from '../driver/driver-clock.ts';
import type { MembershipChange } from '../driver/driver-host.ts';
import type { Founder } from '../membership/bootstrap.ts';
import { changeDue, type RecruitPolicy } from './auto-join.ts';
import { type Space, type SpaceHealth, spaceHealth } from './disk-watch.ts';
import type { Notices } from './member-host.ts';

export interface MaintenanceParts extends Notices {
  readonly clock: Clock;
  readonly policy: RecruitPolicy;
  /** Undefined unless this member leads. */
  readonly leads: () => Config | undefined;
  readonly met: () => readonly Founder[];
  readonly change: (change: MembershipChange) => void;
  readonly isSuspect: () => boolean;
  /** Makes the end of a suspicion durable. */
  readonly trust: () => Promise<void>;
  readonly measure: () => Promise<Space>;
  /** Reads all checkpoint files that are kept. */
  readonly audit: () => Promise<void>;
  /** Milliseconds that the clock of each member is ahead of this one's. */
  readonly clocks: () => Readonly<Record<MemberId, number>>;
}

const everyMs = 1_000;
const clockWarningMs = 10_000;
const clockEveryMs = 60_000;
const auditEveryMs = 7 * 24 * 60 * 60 * 1_000;

export class Maintenance {
  readonly #parts: MaintenanceParts;
  #timer: Cancel = () => {};
  #wasSuspect: boolean;
  #space: SpaceHealth = 'fine';
  #auditAt: number;
  /** Monotonic time of the latest warning about the clock of each member. */
  readonly #clockWarned = new Map<MemberId, number>();

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
    this.#wasSuspect = parts.isSuspect();
    this.#auditAt = parts.clock.monotonicMs() + auditEveryMs;
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
    this.#timer = this.#parts.clock.after(everyMs, () => {
      this.#wait();
      this.#recruit();
      this.#settle();
      this.#measure();
      this.#audit();
      this.#compareClocks();
    });
  }

  #recruit(): void {
    const config = this.#parts.leads();
    if (config === undefined || config.outgoing.length > 0) return;
    const due = changeDue(config, this.#parts.met(), this.#parts.policy);
    if (due !== undefined) this.#parts.change(due);
  }

  #settle(): void {
    if (!this.#wasSuspect || this.#parts.isSuspect()) return;
    this.#wasSuspect = false;
    this.#report('the suspicion is settled: nothing acknowledged is missing', this.#parts.trust());
  }

  #measure(): void {
    const measured = this.#parts.measure().then((space) => {
      const health = spaceHealth(space);
      if (health !== this.#space) {
        const text = `disk space is ${health}: ${space.freeBytes} bytes free`;
        if (health === 'fine') this.#parts.notice(text);
        else this.#parts.warning(text);
      }
      this.#space = health;
    });
    measured.catch((error: unknown) => this.#parts.warning(`disk space cannot be measured: ${String(error)}`));
  }

  #audit(): void {
    const now = this.#parts.clock.monotonicMs();
    if (now < this.#auditAt) return;
    this.#auditAt = now + auditEveryMs;
    const audit = this.#parts.audit();
    audit.catch((error: unknown) => this.#parts.warning(`checkpoints cannot be checked: ${String(error)}`));
  }

  /** Proofs between nodes and the time of the log are only as good as the clocks. */
  #compareClocks(): void {
    const now = this.#parts.clock.monotonicMs();
    for (const [id, offsetMs] of Object.entries(this.#parts.clocks())) {
      const warnedMs = this.#clockWarned.get(id) ?? Number.NEGATIVE_INFINITY;
      if (Math.abs(offsetMs) <= clockWarningMs || now - warnedMs < clockEveryMs) continue;
      this.#clockWarned.set(id, now);
      const seconds = Math.round(Math.abs(offsetMs) / 1000);
      const way = offsetMs > 0 ? 'ahead of' : 'behind';
      this.#parts.warning(`the clock of ${identityOf(id).nodeId} is ${seconds} s ${way} that of this node`);
    }
  }

  #report(text: string, done: Promise<void>): void {
    done.then(
      () => this.#parts.notice(text),
      (error: unknown) => this.#parts.warning(`${text}, but the marker stays: ${String(error)}`),
    );
  }
}
