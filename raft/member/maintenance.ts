// Maintenance of a running member, once a second besides the protocol: nodes that want to join, a suspicion that has
// been settled, a disk that fills up, a leader that takes no writes; and once a week, files that have not been read since.
import { type Config, identityOf, type MemberId } from '../core/types.ts';
import type { Cancel, Clock } from '../driver/driver-clock.ts';
import type { MembershipChange } from '../driver/driver-host.ts';
import type { Founder } from '../membership/bootstrap.ts';
import { changeDue, type RecruitPolicy } from './auto-join.ts';
import { type Space, type SpaceHealth, spaceHealth, spaceText } from './disk-watch.ts';
import type { Notices } from './member-host.ts';

export interface MaintenanceParts extends Notices {
  readonly clock: Clock;
  readonly policy: RecruitPolicy;
  /** Undefined unless this member leads. */
  readonly leads: () => Config | undefined;
  readonly met: () => readonly Founder[];
  readonly change: (change: MembershipChange) => void;
  /** Returns whether the program above cannot write its state for the time being. */
  readonly stateWaits: () => boolean;
  /** Hands leadership to another voter; `times` is how often this node did so before. Returns false where none can be reached. */
  readonly handOver: (times: number) => boolean;
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
/** Pause of a node that led again meanwhile: no other voter may be able to write either. */
const handOverEveryMs = 60_000;
const auditEveryMs = 7 * 24 * 60 * 60 * 1_000;

export class Maintenance {
  readonly #parts: MaintenanceParts;
  #timer: Cancel = () => {};
  #wasSuspect: boolean;
  #isSettling = false;
  /** Why the marker of the suspicion could not be removed, as told. */
  #markerStays: string | undefined;
  #space: SpaceHealth = 'fine';
  #isMeasuring = false;
  #auditAt: number;
  #handOverAt = Number.NEGATIVE_INFINITY;
  #handOvers = 0;
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
      this.#handOver();
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

  /** Removes the marker, again while the disk rejects that: a start that found it would wait for a leader, or for an operator. */
  #settle(): void {
    const { isSuspect, trust, notice, warning } = this.#parts;
    if (!this.#wasSuspect || this.#isSettling || isSuspect()) return;
    this.#isSettling = true;
    const removed = trust().then(() => {
      this.#wasSuspect = false;
      notice(settledText);
    });
    removed
      .catch((error: unknown) => {
        const reason = String(error);
        if (reason !== this.#markerStays) warning(`${settledText}, but the marker stays for now: ${reason}`);
        this.#markerStays = reason;
      })
      .finally(() => {
        this.#isSettling = false;
      });
  }

  /** One at a time: a file system that does not answer holds one thread of the pool, and no more. */
  #measure(): void {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    const measured = this.#parts.measure().then((space) => {
      const health = spaceHealth(space);
      if (health !== this.#space) {
        const text = `disk space is ${health}: ${spaceText(space)}`;
        if (health === 'fine') this.#parts.notice(text);
        else this.#parts.warning(text);
      }
      this.#space = health;
    });
    measured
      .catch((error: unknown) => this.#parts.warning(`disk space cannot be measured: ${String(error)}`))
      .finally(() => {
        this.#isMeasuring = false;
      });
  }

  /** A leader that refuses writes keeps other nodes from taking them, whose disks may be well. */
  #handOver(): void {
    const { stateWaits, leads, clock, handOver, notice } = this.#parts;
    const why = this.#space === 'full' ? 'its disk is full' : stateWaits() ? 'its state cannot be written' : undefined;
    const now = clock.monotonicMs();
    if (why === undefined || now < this.#handOverAt || (leads()?.voters.length ?? 0) < 2) return;
    if (!handOver(this.#handOvers)) return;
    this.#handOvers += 1;
    this.#handOverAt = now + handOverEveryMs;
    notice(`hands leadership over: ${why}`);
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
}

const settledText = 'the suspicion is settled: nothing acknowledged is missing';
