// Metrics of rate limits that the cluster shares (fleet.md §8). Made afresh for each scrape; absent without such a limit.
import { Gauge, Registry } from 'prom-client';

export interface LeaseFigures {
  /** Budgets of which this process holds a part. */
  readonly held: number;
  /** The leader answered the last report; undefined while no limit of the cluster is in force. */
  readonly isInContact: boolean | undefined;
  /** Budgets in the ledger of the leader; undefined elsewhere. */
  readonly budgets?: number | undefined;
}

export function leaseMetrics({ held, isInContact, budgets }: LeaseFigures): Registry {
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number): void =>
    new Gauge({ name, help, registers: [registry] }).set(value);
  if (isInContact !== undefined) {
    gauge('sluice_leases_held', 'Budgets of rate limits of the cluster of which this process holds a part.', held);
    gauge(
      'sluice_leases_up',
      '1 while the leader deals budgets of rate limits; 0: limits by the last share.',
      +isInContact,
    );
  }
  if (budgets !== undefined && budgets > 0) {
    gauge('sluice_leases_budgets', 'Budgets of rate limits of the cluster that the leader keeps account of.', budgets);
  }
  return registry;
}
