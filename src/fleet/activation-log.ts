// Log of activations, one line each: its author, and how long it took until every proxy of the cluster had it. The
// leader writes it, for requests to any node.

import type { ActivationRecord } from '../model/answers/activation-record.ts';
import type { Convergence } from '../model/answers/fleet-answers.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Want } from './convergence.ts';

export interface ActivationLogOptions {
  /** Returns the record of the activation with that index. */
  readonly record: (index: number) => ActivationRecord | undefined;
  readonly converge: (index: number, want: Want, withinMs: number) => Promise<Convergence>;
  /** Returns whether this node leads. */
  readonly leads: () => boolean;
  readonly logger: Logger;
}

const withinMs = 60_000;

export class ActivationLog {
  readonly #options: ActivationLogOptions;
  #ended = false;

  constructor(options: ActivationLogOptions) {
    this.#options = options;
  }

  async activated(index: number): Promise<void> {
    const { record, converge, leads, logger } = this.#options;
    if (!leads()) return;
    const made = record(index);
    const { installed, pendingProxies, refusals, tookMs } = await converge(index, { is: 'all' }, withinMs);
    if (this.#ended) return;
    const about = {
      index,
      ...(made && { snapshot: made.snapshotId, title: made.name, reason: made.reason }),
      ...(made?.by != null && { by: made.by }),
      ...(made?.comment != null && { comment: made.comment }),
      proxies: installed,
      ms: tookMs,
    };
    if (refusals.length > 0) {
      logger.warn({ ...about, refusedBy: refusals.map(({ proxy }) => proxy) }, 'an activation is refused by proxies');
    } else if (pendingProxies.length > 0) {
      logger.warn({ ...about, without: pendingProxies.slice(0, 20) }, 'an activation has not reached every proxy');
    } else logger.info(about, 'an activation has reached every proxy');
  }

  close(): void {
    this.#ended = true;
  }
}
