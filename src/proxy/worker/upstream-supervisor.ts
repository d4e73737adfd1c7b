// Upstream work that is done once per process for all workers: rows in the shared block are given out, endpoints are
// probed, ejected ones brought back, pods discovered. Runs in main; workers see the results in the block.

import { randomInt } from 'node:crypto';
import type { ClusterAccess } from '../../kubernetes/cluster-access.ts';
import type { EndpointStatus } from '../../model/answers/endpoint-answers.ts';
import { type CircuitState, circuitStates } from '../../model/circuit-states.ts';
import type { Destination } from '../../model/destination.ts';
import { type DrainedEndpoint, drainKey } from '../../model/drained-endpoint.ts';
import { contentOf } from '../../model/entity-content.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { KnownEndpoint, KnownStates } from '../explain/explained-destination.ts';
import type { UpstreamStates as ShownStates } from '../metrics/exposition.ts';
import type { EndpointState } from '../shared/endpoint-state.ts';
import type { ConfigRole } from '../shared/figures.ts';
import {
  type EndpointRows,
  type RowsWanted,
  UpstreamBook,
  type UpstreamRows,
  UpstreamStates,
} from '../shared/upstream-states.ts';
import { loadSystemRoots } from '../tls/system-roots.ts';
import { breakerLimits, outlierLimits } from '../upstream/destination-plan.ts';
import { KubernetesDiscovery } from '../upstream/discovery/kubernetes-discovery.ts';
import { endpointsOf, type FoundAddress } from '../upstream/endpoint-address.ts';
import { healthPlan, healthPlanText } from '../upstream/health/health-plan.ts';
import { HealthProber, type ProbedDestination } from '../upstream/health/health-prober.ts';
import { probe } from '../upstream/health/probe.ts';
import { NameLookup } from '../upstream/name-lookup.ts';
import { OutlierDetector, restore } from '../upstream/outlier-detector.ts';
import type { SignedCookies } from '../upstream/session/signed-cookies.ts';
import type { Discovered } from '../upstream/upstreams.ts';
import { Wheel } from '../wheel.ts';

export interface SupervisorOptions {
  /** Signed session cookies, to explain where they lead. */
  readonly signed?: SignedCookies;
  readonly threads: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly findCluster: () => Promise<ClusterAccess | undefined>;
  /** Endpoints of the destination with that key (see RowsWanted) have changed without an activation. */
  readonly onDiscovered: (key: string, endpoints: readonly FoundAddress[], rows: EndpointRows) => void;
}

/** The destinations of one configuration. */
interface DestinationSet {
  readonly destinations: readonly Destination[];
  /** By id: whether both sets mean the same by it. */
  readonly keys: ReadonlyMap<string, string>;
}

/** The pods of a service; they are those of a destination for as long as it names that service. */
interface Found {
  readonly host: string;
  readonly port: number;
  readonly endpoints: readonly FoundAddress[];
}

function stateOf(state: EndpointState | undefined): EndpointStatus['state'] {
  if (state === undefined) return 'available';
  if (state.drained) return 'drained';
  if (!state.healthy) return 'unhealthy';
  return state.ejected ? 'ejected' : 'available';
}

const noDestinations: DestinationSet = { destinations: [], keys: new Map() };

const sweepMsMin = 50;

export class UpstreamSupervisor implements ShownStates, KnownStates {
  readonly #options: SupervisorOptions;
  readonly signed: SignedCookies | undefined;
  readonly #book: UpstreamBook;
  /** Main's own view: it changes flags and counts nothing. */
  readonly #states: UpstreamStates;
  readonly #prober: HealthProber;
  readonly #discovery: KubernetesDiscovery;
  /** By key. */
  readonly #discovered = new Map<string, Found>();
  #stable = noDestinations;
  /** Destinations of the candidate. */
  #candidate: DestinationSet | undefined;
  #sweeps: (() => void)[] = [];
  #sweepMs = 0;
  #preparing: { readonly role: ConfigRole; readonly set: DestinationSet } | undefined;
  #keyNumber = 0;
  #cancelSweep: Cancel | undefined;
  #closed = false;
  /** By `drainKey`. */
  #drained: ReadonlySet<string> = new Set();

  constructor(options: SupervisorOptions) {
    const { threads, clock, logger, findCluster } = options;
    this.#options = options;
    this.signed = options.signed;
    this.#book = new UpstreamBook(threads);
    this.#states = new UpstreamStates(threads, 0);
    const { lookup } = new NameLookup(clock);
    const wheel = new Wheel(clock);
    this.#prober = new HealthProber({
      clock,
      logger,
      probe: (target, plan) => probe(target, plan, { clock, wheel, lookup, roots: () => loadSystemRoots() }),
    });
    this.#discovery = new KubernetesDiscovery({
      clock,
      logger,
      random: () => randomInt(2 ** 32) / 2 ** 32,
      findCluster,
      onEndpoints: ({ id, host, port }, endpoints) => this.#found(id, { host, port, endpoints }),
    });
  }

  /** Before the configuration is prepared by anyone. `follow` or `discard` comes next. */
  prepare(role: ConfigRole, destinations: readonly Destination[]): void {
    this.#preparing = { role, set: { destinations, keys: this.#keysOf(role, destinations) } };
  }

  discard(): void {
    this.#preparing = undefined;
  }

  /** The configuration that was prepared takes its place. */
  follow(): void {
    if (this.#preparing?.role === 'candidate') this.#candidate = this.#preparing.set;
    else if (this.#preparing !== undefined) this.#stable = this.#preparing.set;
    this.#preparing = undefined;
    this.#discover();
    this.#attend();
  }

  /** The candidate takes the place of the other. */
  promote(): void {
    this.#stable = this.#candidate ?? this.#stable;
    this.withdraw();
  }

  withdraw(): void {
    this.#candidate = undefined;
    this.#discover();
    this.#attend();
  }

  /** Endpoints that get no new requests from now on; all others do. */
  drain(endpoints: readonly DrainedEndpoint[]): void {
    this.#drained = new Set(endpoints.map(({ destinationId, endpoint }) => drainKey(destinationId, endpoint)));
    for (const { destination, key } of this.#all()) this.#applyDrains(destination, key);
  }

  #applyDrains(destination: Destination, key: string): void {
    const { id } = destination;
    let isOther = false;
    for (const { name, label } of endpointsOf(destination, this.#foundOf(destination, key))) {
      const state = this.#states.findEndpoint(key, name);
      const wanted = this.#drained.has(drainKey(id, name)) || this.#drained.has(drainKey(id, label));
      if (state === undefined || state.drained === wanted) continue;
      state.drained = wanted;
      isOther = true;
    }
    if (isOther) this.#states.findDestination(key)?.touch();
  }

  get discovered(): Discovered {
    return this.discoveredBy('stable');
  }

  /** Rows of the configuration that is being prepared or in force in that role, as they are now. */
  rows(role: ConfigRole): UpstreamRows {
    return this.#book.assign(this.#wantedBy(this.#destinationsOf(role)));
  }

  /** Endpoints that were discovered for it, by id. */
  discoveredBy(role: ConfigRole): Discovered {
    const found = new Map<string, readonly FoundAddress[]>();
    const { destinations, keys } = this.#destinationsOf(role);
    for (const destination of destinations) {
      const endpoints = this.#foundOf(destination, keys.get(destination.id) ?? destination.id);
      if (endpoints !== undefined) found.set(destination.id, endpoints);
    }
    return found;
  }

  // What a scrape of metrics asks.

  breakers(): { destination: string; state: number }[] {
    return this.#shown()
      .filter(({ destination }) => destination.options?.circuitBreaker !== undefined)
      .map(({ destination: { id }, key }) => ({ destination: id, state: this.#states.destination(key).circuit }));
  }

  /** Destinations that did not keep up with what was mirrored to them. */
  lostCopies(): { destination: string; count: number }[] {
    return this.#shown()
      .map(({ destination: { id }, key }) => ({
        destination: id,
        count: this.#states.findDestination(key)?.lostCopies ?? 0,
      }))
      .filter(({ count }) => count > 0);
  }

  endpoints(): { destination: string; endpoint: string; available: boolean; consecutive5xx: number }[] {
    return this.#shown().flatMap(({ destination, key }) =>
      endpointsOf(destination, this.#foundOf(destination, key)).map(({ name, label }) => {
        const { available, serverErrors } = this.#states.endpoint(key, name);
        return { destination: destination.id, endpoint: label, available, consecutive5xx: serverErrors };
      }),
    );
  }

  // Explains the state of a destination to an operator.

  endpointsOf(destination: string): readonly EndpointStatus[] | undefined {
    const found = this.#findStable(destination);
    if (found === undefined) return undefined;
    const key = this.#stable.keys.get(destination) ?? destination;
    return endpointsOf(found, this.#foundOf(found, key)).map(({ name, label }) => ({
      endpoint: label,
      state: stateOf(this.#states.findEndpoint(key, name)),
    }));
  }

  destinationIds(): readonly string[] {
    return this.#stable.destinations.map(({ id }) => id);
  }

  nameOf(destination: string): string | undefined {
    return this.#findStable(destination)?.name;
  }

  endpoint(destination: string, endpoint: string): KnownEndpoint | undefined {
    const key = this.#stable.keys.get(destination) ?? destination;
    const state = this.#states.findEndpoint(key, endpoint);
    if (state === undefined) return undefined;
    const reason = state.healthy ? undefined : this.#prober.reasonOf(key, endpoint);
    return {
      healthy: state.healthy,
      ejected: state.ejected,
      drained: state.drained,
      ...(reason !== undefined && { reason }),
    };
  }

  circuit(destination: string): CircuitState | undefined {
    // In the order of `DestinationState.circuit`.
    return circuitStates[
      this.#states.findDestination(this.#stable.keys.get(destination) ?? destination)?.circuit ?? -1
    ];
  }

  #findStable(destination: string): Destination | undefined {
    return this.#stable.destinations.find(({ id }) => id === destination);
  }

  /** The worker at `place` has crashed: nothing of what it held stays counted. */
  forget(place: number): void {
    this.#book.forget(place);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#prober.close();
    this.#cancelSweep?.();
    await this.#discovery.close();
  }

  #destinationsOf(role: ConfigRole): DestinationSet {
    if (this.#preparing?.role === role) return this.#preparing.set;
    return role === 'stable' ? this.#stable : (this.#candidate ?? noDestinations);
  }

  /**
   * Keys of the destinations. A destination that is the same in both configurations has one key. An activation takes
   * over the key of what it replaces, changed or not; a destination that a candidate changes gets its own key, so that
   * its failures do not affect the stable one.
   */
  #keysOf(role: ConfigRole, destinations: readonly Destination[]): ReadonlyMap<string, string> {
    const stable = new Map(this.#stable.destinations.map((destination) => [destination.id, destination]));
    const candidate = new Map(
      (this.#candidate?.destinations ?? []).map((destination) => [destination.id, destination]),
    );
    return new Map(
      destinations.map((destination) => {
        const { id } = destination;
        const ofStable = this.#stable.keys.get(id);
        if (ofStable !== undefined && isSame(stable.get(id), destination)) return [id, ofStable];
        const ofCandidate = this.#candidate?.keys.get(id);
        if (ofCandidate !== undefined && isSame(candidate.get(id), destination)) return [id, ofCandidate];
        if (ofStable !== undefined && role === 'stable') return [id, ofStable];
        const isFree = ofStable === undefined && ofCandidate === undefined;
        return [id, isFree ? id : `${id}#${++this.#keyNumber}`];
      }),
    );
  }

  *#wantedBy({ destinations, keys }: DestinationSet): Generator<RowsWanted> {
    for (const destination of destinations) {
      const { id } = destination;
      const key = keys.get(id) ?? id;
      yield { id, key, endpoints: this.#namesOf(destination, key) };
    }
  }

  /** Destinations of both configurations in force; one that is the same in both occurs once. */
  #all(): { readonly destination: Destination; readonly key: string }[] {
    const all = new Map<string, Destination>();
    for (const { destinations, keys } of [this.#stable, this.#candidate ?? noDestinations]) {
      for (const destination of destinations) {
        const key = keys.get(destination.id) ?? destination.id;
        if (!all.has(key)) all.set(key, destination);
      }
    }
    return [...all].map(([key, destination]) => ({ key, destination }));
  }

  /** Destinations by id; where both configurations have one, the stable one. */
  #shown(): { readonly destination: Destination; readonly key: string }[] {
    const shown = new Map<string, { destination: Destination; key: string }>();
    for (const each of this.#all()) if (!shown.has(each.destination.id)) shown.set(each.destination.id, each);
    return [...shown.values()];
  }

  #namesOf(destination: Destination, key: string): string[] {
    return endpointsOf(destination, this.#foundOf(destination, key)).map(({ name }) => name);
  }

  #foundOf(destination: Destination, key: string): readonly FoundAddress[] | undefined {
    const found = isDiscovered(destination) ? this.#discovered.get(key) : undefined;
    return found?.host === destination.host && found.port === destination.port ? found.endpoints : undefined;
  }

  #found(key: string, found: Found): void {
    if (this.#closed) return;
    const { endpoints } = found;
    this.#discovered.set(key, found);
    this.#attend();
    const sets = [this.#stable, this.#candidate ?? noDestinations, this.#preparing?.set ?? noDestinations];
    const set = sets.find(({ keys }) => [...keys.values()].includes(key));
    const destination = set?.destinations.find(({ id }) => set.keys.get(id) === key);
    if (destination === undefined) return;
    this.#options.onDiscovered(key, endpoints, this.#book.endpointRows(key, this.#namesOf(destination, key)));
    const about = { destination: destination.id, endpoints: endpoints.length };
    this.#options.logger.info(about, 'Kubernetes names other endpoints');
  }

  #attend(): void {
    const all = this.#all();
    const wanted = all.map(({ destination, key }) => ({ id: key, endpoints: this.#namesOf(destination, key) }));
    this.#letGo(wanted);
    this.#states.adopt(this.#book.assign(wanted));
    const probed: ProbedDestination[] = [];
    this.#sweeps = [];
    let sweepMs = Number.POSITIVE_INFINITY;
    for (const { destination, key } of all) {
      const { options } = destination;
      const state = this.#states.destination(key);
      const endpoints = endpointsOf(destination, this.#foundOf(destination, key)).map((address) => ({
        ...address,
        state: this.#states.endpoint(key, address.name),
      }));
      this.#applyDrains(destination, key);
      const plan = healthPlan(destination);
      if (plan !== undefined) {
        probed.push({ id: key, plan, planText: healthPlanText(destination), state, endpoints });
      } else if (endpoints.some((endpoint) => !endpoint.state.healthy)) {
        for (const endpoint of endpoints) endpoint.state.healthy = true;
        state.touch();
      }
      // One that never opens is not left open.
      if (breakerLimits(options).failureThreshold === 0) state.resetCircuit();
      const limits = outlierLimits(options);
      const states = endpoints.map((endpoint) => endpoint.state);
      if (limits === undefined) {
        for (const endpoint of states) if (endpoint.ejected) restore(state, endpoint);
        continue;
      }
      const detector = new OutlierDetector(state, states.length, limits, this.#options.clock);
      detector.settle(states);
      this.#sweeps.push(() => detector.sweep(states));
      sweepMs = Math.min(sweepMs, limits.sweepMs);
    }
    this.#prober.follow(probed);
    this.#sweepMs = Math.max(sweepMsMin, sweepMs);
    if (this.#sweeps.length > 0 && this.#cancelSweep === undefined) this.#sweepSoon();
    this.#book.keep([...wanted, ...this.#wantedBy(this.#preparing?.set ?? noDestinations)]);
  }

  #discover(): void {
    const found = this.#all().filter(({ destination }) => isDiscovered(destination));
    this.#discovery.follow(found.map(({ destination: { host, port }, key }) => ({ id: key, host, port })));
    const followed = new Map(found.map(({ destination, key }) => [key, destination]));
    for (const [key, { host, port }] of this.#discovered) {
      const destination = followed.get(key);
      if (destination?.host !== host || destination.port !== port) this.#discovered.delete(key);
    }
  }

  /** An endpoint that leaves while it is ejected does not count as ejected any more. */
  #letGo(wanted: readonly RowsWanted[]): void {
    for (const { key, state } of this.#book.leaving(wanted)) {
      const destination = state.ejected ? this.#book.find(key) : undefined;
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

const isDiscovered = ({ options }: Destination): boolean => options?.discovery?.type === 'kubernetes';

const isSame = (one: Destination | undefined, other: Destination): boolean =>
  one === other || (one !== undefined && contentOf(one) === contentOf(other));
