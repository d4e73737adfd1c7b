// The membership change under way, from its proposal to the configuration that completes it.
import type { RaftCore } from '../core/raft-core.ts';
import type { Config, Index } from '../core/types.ts';
import type { MembershipChange, Outcome } from './driver-host.ts';
import type { DriverSettings } from './driver-settings.ts';
import { planChange } from './membership-plan.ts';

interface Pending {
  readonly id: number;
  readonly index: Index;
  readonly isComplete: (config: Config) => boolean;
}

export class PendingConfigurationChange {
  readonly #core: RaftCore;
  readonly #settings: DriverSettings;
  readonly #report: (id: number, outcome: Outcome) => void;
  #pending: Pending | undefined;
  #deadline: number | undefined;

  constructor(core: RaftCore, settings: DriverSettings, report: (id: number, outcome: Outcome) => void) {
    this.#core = core;
    this.#settings = settings;
    this.#report = report;
  }

  propose(id: number, change: MembershipChange, force: boolean, time: number): void {
    const plan = planChange(this.#core.inspect(), change, this.#settings, force);
    if (plan.kind === 'refused') {
      this.#report(id, { kind: 'notApplied', why: plan.why });
      return;
    }
    if (this.#pending !== undefined) {
      this.#report(id, { kind: 'notApplied', why: 'pending change' });
      return;
    }
    const result = this.#core.proposeConfig(plan.changes, 'auto', time);
    if (result.kind === 'refused') this.#report(id, { kind: 'notApplied', why: result.why });
    else this.#pending = { id, index: result.index, isComplete: plan.target };
  }

  /** `config` is in force from `index` on. */
  activated(index: Index, config: Config): void {
    const pending = this.#pending;
    if (pending === undefined || index < pending.index || config.outgoing.length > 0) return;
    // Another leader's change may have taken the place of ours.
    if (pending.isComplete(config)) this.#finish({ kind: 'committed', index });
    else this.#finish({ kind: 'unknown', why: 'stepped down' });
  }

  leads(doesLead: boolean, now: number, patienceMs: number): void {
    if (doesLead) this.#deadline = undefined;
    else this.#deadline ??= now + patienceMs;
  }

  tick(now: number): void {
    if (this.#deadline !== undefined && now >= this.#deadline) this.#finish({ kind: 'unknown', why: 'stepped down' });
  }

  stop(): void {
    this.#finish({ kind: 'unknown', why: 'stopping' });
  }

  #finish(outcome: Outcome): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending !== undefined) this.#report(pending.id, outcome);
  }
}
