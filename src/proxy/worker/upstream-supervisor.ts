// What is done once per process for upstreams, whatever the number of workers: rows in the shared block are given out,
// endpoints are probed, ejected ones brought back, pods discovered. Runs in main; workers see the results in the block.
import { randomInt } from 'node:crypto';
import type { Cancel, Clock } from '../../clock.ts';
import type { Destination } from '../../model/destination.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { KnownStates } from '../explain/explained-destination.ts';
import type { UpstreamStates as ShownStates } from '../metrics/exposition.ts';
import { UpstreamBook, type UpstreamRows, UpstreamStates } from '../shared/upstream-states.ts';
import { outlierLimits } from '../upstream/destination-plan.ts';
import type { ClusterAccess } from '../upstream/discovery/cluster-access.ts';
import { KubernetesDiscovery } from '../upstream/discovery/kubernetes-discovery.ts';
import { endpointsOf, type FoundAddress } from '../upstream/endpoint-address.ts';
import { healthPlan, healthPlanText } from '../upstream/health/health-plan.ts';
import { HealthProber, type ProbedDestination } from '../upstream/health/health-prober.ts';
import { probe } from '../upstream/health/probe.ts';
import { NameLookup } from '../upstream/name-lookup.ts';
import { OutlierDetector, restore } from '../upstream/outlier-detector.ts';
import type { Discovered } from '../upstream/upstreams.ts';

export interface SupervisorOptions {
  readonly threads: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly findCluster: () => Promise<ClusterAccess | undefined>;
  /** Endpoints of a destination have changed without an activation; `rows` are for the configuration in force. */
  readonly onDiscovered: (id: string, endpoints: readonly FoundAddress[], rows: UpstreamRows) => void;
}

const sweepMsMin = 50;

/** By `DestinationState.circuit`. */
const circuits = ['closed', 'open', 'half-open'] as const;

export class UpstreamSupervisor implements ShownStates, KnownStates {
  readonly #options: SupervisorOptions;
  readonly #book: UpstreamBook;
  /** Main's own view: it changes flags and counts nothing. */
  readonly #states: UpstreamStates;
  readonly #prober: HealthProber;
  readonly #discovery: KubernetesDiscovery;
  readonly #discovered = new Map<string, readonly FoundAddress[]>();
  #destinations: readonly Destination[] = [];
  #sweeps: (() => void)[] = [];
  #sweepMs = 0;
  /** Of the configuration that is being prepared. */
  #preparing: UpstreamRows | undefined;
  #cancelSweep: Cancel | undefined;
  #closed = false;

  constructor(options: SupervisorOptions) {
    const { threads, clock, logger, findCluster } = options;
    this.#options = options;
    this.#book = new UpstreamBook(threads);
    this.#states = new UpstreamStates(threads, 0);
    const { lookup } = new NameLookup(clock);
    this.#prober = new HealthProber({
      clock,
      logger,
      probe: (target, plan) => probe(target, plan, { clock, lookup }),
    });
    this.#discovery = new KubernetesDiscovery({
      clock,
      logger,
      random: () => randomInt(2 ** 32) / 2 ** 32,
      findCluster,
      onEndpoints: (id, endpoints) => this.#found(id, endpoints),
    });
  }

  /** Before the configuration is prepared by anyone. `follow` or `discard` comes next. */
  prepare(destinations: readonly Destination[]): UpstreamRows {
    this.#preparing = this.#assign(destinations);
    return this.#preparing;
  }

  discard(): void {
    this.#preparing = undefined;
  }

  get discovered(): Discovered {
    return this.#discovered;
  }

  /** The configuration is in force. Gives its rows as they are now. */
  follow(destinations: readonly Destination[]): UpstreamRows {
    this.#preparing = undefined;
    this.#destinations = destinations;
    this.#discovery.follow(
      destinations
        .filter(({ options }) => options?.discovery?.type === 'kubernetes')
        .map(({ id, host, port }) => ({ id, host, port })),
    );
    for (const id of this.#discovered.keys()) {
      if (!destinations.some((each) => each.id === id && each.options?.discovery?.type === 'kubernetes')) {
        this.#discovered.delete(id);
      }
    }
    const rows = this.#assign(destinations);
    this.#attend(rows);
    return rows;
  }

  // What a scrape of metrics asks.

  breakers(): { destination: string; state: number }[] {
    return this.#destinations
      .filter(({ options }) => options?.circuitBreaker !== undefined)
      .map(({ id }) => ({ destination: id, state: this.#states.destination(id).circuit }));
  }

  endpoints(): { destination: string; endpoint: string; available: boolean; consecutive5xx: number }[] {
    return this.#destinations.flatMap((destination) =>
      this.#namesOf(destination).map((endpoint) => {
        const { available, serverErrors } = this.#states.endpoint(destination.id, endpoint);
        return { destination: destination.id, endpoint, available, consecutive5xx: serverErrors };
      }),
    );
  }

  // What somebody asks who wants to know why.

  endpoint(destination: string, endpoint: string): { healthy: boolean; ejected: boolean } | undefined {
    return this.#states.findEndpoint(destination, endpoint);
  }

  circuit(destination: string): 'closed' | 'open' | 'half-open' | undefined {
    return circuits[this.#states.findDestination(destination)?.circuit ?? -1];
  }

  /** The worker at `place` has fallen: nothing of what it held stays counted. */
  forget(place: number): void {
    this.#book.forget(place);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#prober.close();
    this.#cancelSweep?.();
    await this.#discovery.close();
  }

  #assign(destinations: readonly Destination[]): UpstreamRows {
    return this.#book.assign(
      destinations.map((destination) => ({ id: destination.id, endpoints: this.#namesOf(destination) })),
    );
  }

  #namesOf(destination: Destination): string[] {
    return endpointsOf(destination, this.#discovered.get(destination.id)).map(({ name }) => name);
  }

  #found(id: string, endpoints: readonly FoundAddress[]): void {
    if (this.#closed) return;
    this.#discovered.set(id, endpoints);
    const rows = this.#assign(this.#destinations);
    this.#attend(rows);
    this.#options.onDiscovered(id, endpoints, rows);
    this.#options.logger.info({ destination: id, endpoints: endpoints.length }, 'Kubernetes names other endpoints');
  }

  #attend(rows: UpstreamRows): void {
    this.#letGo(rows);
    this.#states.adopt(rows);
    const probed: ProbedDestination[] = [];
    this.#sweeps = [];
    let sweepMs = Number.POSITIVE_INFINITY;
    for (const destination of this.#destinations) {
      const { id, options } = destination;
      const state = this.#states.destination(id);
      const endpoints = endpointsOf(destination, this.#discovered.get(id)).map((address) => ({
        ...address,
        state: this.#states.endpoint(id, address.name),
      }));
      const plan = healthPlan(destination);
      if (plan !== undefined) {
        probed.push({ id, plan, planText: healthPlanText(destination), state, endpoints });
      } else if (endpoints.some((endpoint) => !endpoint.state.healthy)) {
        for (const endpoint of endpoints) endpoint.state.healthy = true;
        state.touch();
      }
      if (options?.circuitBreaker === undefined) state.resetCircuit();
      const limits = outlierLimits(options);
      const states = endpoints.map((endpoint) => endpoint.state);
      if (limits === undefined) {
        for (const endpoint of states) if (endpoint.ejected) restore(state, endpoint);
        continue;
      }
      const detector = new OutlierDetector(state, states.length, limits, this.#options.clock);
      this.#sweeps.push(() => detector.sweep(states));
      sweepMs = Math.min(sweepMs, limits.sweepMs);
    }
    this.#prober.follow(probed);
    this.#sweepMs = Math.max(sweepMsMin, sweepMs);
    if (this.#sweeps.length > 0 && this.#cancelSweep === undefined) this.#sweepSoon();
    this.#book.keep(this.#preparing === undefined ? [rows] : [rows, this.#preparing]);
  }

  /** An endpoint that leaves while it is ejected does not count as ejected any more. */
  #letGo(rows: UpstreamRows): void {
    for (const { id, state } of this.#book.leaving(rows)) {
      const destination = state.ejected ? this.#book.find(id) : undefined;
      if (destination !== undefined) restore(destination, state);
    }
  }

  #sweepSoon(): void {
    this.#cancelSweep = this.#options.clock.after(this.#sweepMs, () => {
      this.#cancelSweep = undefined;
      if (this.#closed) return;
      for (const sweep of this.#sweeps) sweep();
      if (this.#sweeps.length > 0) this.#sweepSoon();
    });
  }
}
