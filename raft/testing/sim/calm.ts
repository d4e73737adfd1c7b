// Calm seeds, with a single fault: after its first leader such a cluster elects no other without a reason.
import type { CoreEvent } from '../../core/output.ts';
import type { Plan } from './plan.ts';
import type { SimNode } from './sim-node.ts';
import type { Fail } from './violation.ts';

/** By then the first leader is in office. */
const calmFromMs = 8_000;
/** Time by which a node that can lead does, where half of the links have been gone since `calmFromMs`. */
const settledFromMs = calmFromMs + 15_000;

export class CalmChecks {
  readonly #plan: Pick<Plan, 'calm' | 'safetyMs'>;
  readonly #fail: Fail;

  constructor(plan: Pick<Plan, 'calm' | 'safetyMs'>, fail: Fail) {
    this.#plan = plan;
    this.#fail = fail;
  }

  /** B27 and B28: no election without a reason, and no poll by a node that only slept. */
  event(node: SimNode, event: CoreEvent, now: number): void {
    const { calm, safetyMs } = this.#plan;
    if (calm === undefined || event.type !== 'role' || now > safetyMs) return;
    if (now < (calm === 'partial' ? settledFromMs : calmFromMs)) return;
    const isPoll = event.role === 'preCandidate' && calm === 'pauses';
    if (isPoll || event.role === 'candidate')
      this.#fail(calm === 'partial' ? 'B28' : 'B27', `${node.id} becomes ${event.role} without need`);
  }

  /** B28: where one node hears a quorum, and a quorum hears it, writes go on. */
  ended(lastAckedAt: number): void {
    if (this.#plan.calm !== 'partial' || lastAckedAt > this.#plan.safetyMs - 10_000) return;
    this.#fail('B28', `no write was acknowledged after ${Math.round(lastAckedAt)} ms on half of the links`);
  }
}
