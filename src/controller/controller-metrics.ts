// Metrics of the controller, at `/metrics` of its admin address.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface ControllerSources {
  readonly isLeading: () => boolean;
  readonly entities: () => number;
  readonly isReady: () => boolean;
  readonly lostWatches: () => number;
}

export class ControllerMetrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];
  readonly #batches = new Counter({
    name: 'sluice_controller_batches_total',
    help: 'Batches that were sent to Sluice, by what became of them.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #operations = new Counter({
    name: 'sluice_controller_operations_total',
    help: 'Operations of batches that were written.',
    registers: this.#registers,
  });
  readonly #batchTime = new Histogram({
    name: 'sluice_controller_batch_seconds',
    help: 'Time from sending a batch to its answer.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: this.#registers,
  });
  readonly #settleTime = new Histogram({
    name: 'sluice_controller_settle_seconds',
    help: 'Time of computing what changes of the cluster mean, without pauses.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers: this.#registers,
  });
  readonly #statuses = new Counter({
    name: 'sluice_controller_status_writes_total',
    help: 'Writes of statuses, by kind and by what became of them.',
    labelNames: ['kind', 'outcome'],
    registers: this.#registers,
  });

  constructor({ isLeading, entities, isReady, lostWatches }: ControllerSources) {
    collectDefaultMetrics({ register: this.registry });
    const gauge = (name: string, help: string, read: () => number): void => {
      new Gauge({
        name,
        help,
        registers: this.#registers,
        collect() {
          this.set(read());
        },
      });
    };
    gauge('sluice_controller_leader', '1 while this process writes.', () => Number(isLeading()));
    gauge('sluice_controller_ready', '1 once every watch has listed.', () => Number(isReady()));
    gauge('sluice_controller_entities', 'Entities that Sluice is to have.', entities);
    gauge('sluice_controller_lost_watches', 'Kinds whose watch is lost now.', lostWatches);
    for (const outcome of ['written', 'refused', 'failed']) this.#batches.inc({ outcome }, 0);
  }

  batch(outcome: 'written' | 'refused' | 'failed', operations: number, ms: number): void {
    this.#batches.inc({ outcome });
    if (outcome === 'written') this.#operations.inc(operations);
    this.#batchTime.observe(ms / 1_000);
  }

  settled(ms: number): void {
    this.#settleTime.observe(ms / 1_000);
  }

  statusWrite(kind: string, outcome: 'written' | 'conflict' | 'failed'): void {
    this.#statuses.inc({ kind, outcome });
  }
}
