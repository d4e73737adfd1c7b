// Metrics that this process has about itself, as `GET /metrics` of the API shows it (raft.md A22). Made once and handed
// down: components call a method here to count an event. Registries of other components are merged at each
// scrape.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Exposition {
  readonly contentType: string;
  /** Prometheus text format, 0.0.4. */
  readonly text: string;
}

export class Metrics {
  /** Registry of this instance, so that two instances in one process stay apart. */
  readonly registry = new Registry();
  readonly #taken: (() => Promise<Registry>)[] = [];
  readonly #registers = [this.registry];

  readonly #writes = new Counter({
    name: 'sluice_raft_proposals_total',
    help: 'Writes that this node took, by what became of them.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #repeated = new Counter({
    name: 'sluice_raft_deduplicated_total',
    help: 'Commands that came again and were answered as the first time.',
    registers: this.#registers,
  });
  readonly #apply = new Histogram({
    name: 'sluice_raft_apply_seconds',
    help: 'Time to compute a batch of commands and to write it to the state.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: this.#registers,
  });
  readonly #reads = new Counter({
    name: 'sluice_raft_reads_total',
    help: 'Reads of resources, by how fresh they had to be.',
    labelNames: ['mode'],
    registers: this.#registers,
  });

  readonly #relayed = new Counter({
    name: 'sluice_relay_attempts_total',
    help: 'Attempts to carry a write of this node to the leader, by what became of them.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #relayTime = new Histogram({
    name: 'sluice_relay_attempt_seconds',
    help: 'Time that an attempt to carry a write to the leader took.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: this.#registers,
  });
  readonly #differs = new Counter({
    name: 'sluice_raft_state_hash_mismatches_total',
    help: 'Comparisons in which another node held another state at the same index.',
    registers: this.#registers,
  });
  readonly #compared = new Gauge({
    name: 'sluice_raft_state_hash_compared_index',
    help: 'Highest index at which this state was held against that of another node.',
    registers: this.#registers,
  });

  constructor() {
    for (const outcome of outcomes) this.#writes.inc({ outcome }, 0);
    for (const outcome of outcomes) this.#relayed.inc({ outcome }, 0);
    for (const mode of modes) this.#reads.inc({ mode }, 0);
  }

  wrote(outcome: (typeof outcomes)[number]): void {
    this.#writes.inc({ outcome });
  }

  repeated(): void {
    this.#repeated.inc();
  }

  applied(ms: number): void {
    this.#apply.observe(ms / 1000);
  }

  relayed(outcome: (typeof outcomes)[number], ms: number): void {
    this.#relayed.inc({ outcome });
    this.#relayTime.observe(ms / 1000);
  }

  read(mode: (typeof modes)[number]): void {
    this.#reads.inc({ mode });
  }

  stateCompared(index: number): void {
    this.#compared.set(index);
  }

  stateDiffers(): void {
    this.#differs.inc();
  }

  /** Adds the registry that `take` returns to each exposition. */
  include(take: () => Promise<Registry>): void {
    this.#taken.push(take);
  }

  async exposition(): Promise<Exposition> {
    const taken = await Promise.all(this.#taken.map((take) => take()));
    const texts = await Promise.all([this.registry, ...taken].map((registry) => registry.metrics()));
    return { contentType: this.registry.contentType, text: texts.join('\n') };
  }
}

const outcomes = ['applied', 'not_applied', 'unknown'] as const;
const modes = ['linearizable', 'min_revision', 'stale'] as const;
