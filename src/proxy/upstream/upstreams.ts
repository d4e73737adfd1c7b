// Destinations as one generation of a running proxy holds them. What a configuration does not change is taken over
// from the generation before, connections, rings and cursors included (architecture.md §6.15).

import { destinationDefaults } from '../../model/defaults.ts';
import type { Destination } from '../../model/destination.ts';
import { contentOf } from '../../model/entity-content.ts';
import type { Clock } from '../../util/clock.ts';
import { lenienceOf } from '../http1/lenience.ts';
import { durationMs } from '../parsed-duration.ts';
import type { UpstreamStates } from '../shared/upstream-states.ts';
import { UpstreamSecurity } from '../tls/upstream-security.ts';
import type { Random } from './balance/balancer.ts';
import { balancerOf, balancerText } from './balance/balancer-of.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { OpeningTools } from './connect-attempt.ts';
import { type BalancingPlan, balancingPlan, breakerLimits, connectionText, outlierLimits } from './destination-plan.ts';
import { DestinationPool } from './destination-pool.ts';
import { endpointsOf, type FoundAddress } from './endpoint-address.ts';
import { EndpointGroup } from './endpoint-group.ts';
import type { PoolOptions } from './endpoint-pool.ts';
import { noEjections, OutlierDetector } from './outlier-detector.ts';
import { protocolOf } from './protocol/protocol-of.ts';
import type { UpstreamProtocol } from './protocol/upstream-protocol.ts';
import type { Placements } from './session/placements.ts';
import { type SignedCookies, type SignedLevel, signedLevel } from './session/signed-cookies.ts';

export interface UpstreamTools extends OpeningTools {
  readonly clock: Clock;
  readonly random: Random;
  /** State that all threads share. */
  readonly states: UpstreamStates;
  /** Index of this thread. */
  readonly place: number;
  /** Undefined: none is configured. */
  readonly sessions: Placements | undefined;
  readonly signed: SignedCookies;
}

/** Endpoints that discovery has found, by destination id. */
export type Discovered = ReadonlyMap<string, readonly FoundAddress[]>;

export class Upstream {
  readonly id: string;
  readonly host: string;
  readonly pool: DestinationPool;
  readonly breaker: CircuitBreaker;
  readonly balancing: BalancingPlan;
  /** Signed cookie by which an endpoint is chosen; undefined: by another rule. */
  readonly signed: SignedLevel | undefined;
  /** Total budget in milliseconds; 0 = none. */
  readonly requestMs: number;
  readonly expectContinueMs: number;
  /** Text of its part of the configuration. */
  readonly content: string;
  /** Row in which all threads count for it. */
  readonly row: number;
  /** Text of the options that its connections depend on. */
  readonly connectionText: string;
  group: EndpointGroup;

  private constructor(
    destination: Destination,
    content: string,
    parts: {
      readonly row: number;
      readonly pool: DestinationPool;
      readonly group: EndpointGroup;
      readonly breaker: CircuitBreaker;
    },
  ) {
    const { id, host, options } = destination;
    this.id = id;
    this.host = host;
    this.content = content;
    this.row = parts.row;
    this.connectionText = connectionText(destination);
    this.pool = parts.pool;
    this.group = parts.group;
    this.breaker = parts.breaker;
    this.balancing = balancingPlan(options);
    this.signed = signedLevel('destination', id, this.balancing);
    this.requestMs = durationMs(options?.timeouts?.request, 0);
    this.expectContinueMs = durationMs(options?.timeouts?.expectContinue, destinationDefaults.timeouts.expectContinue);
  }

  static *open(
    destination: Destination,
    content: string,
    found: readonly FoundAddress[] | undefined,
    tools: UpstreamTools,
    former: Upstream | undefined,
  ): Generator<void, Upstream> {
    const { id, options } = destination;
    const state = tools.states.destination(id);
    const same = former?.connectionText === connectionText(destination) ? former : undefined;
    const protocol = protocolOf(options);
    const pool = same?.pool ?? new DestinationPool(state, protocol, poolOptions(destination, protocol), tools);
    const group = yield* groupOf(destination, found, pool, tools, former?.group);
    const breaker = new CircuitBreaker(state, breakerLimits(options), tools.clock);
    return new Upstream(destination, content, { row: tools.states.rowOf(id), pool, group, breaker });
  }

  /** Other endpoints than before. Those that stay keep their connections. */
  *regroup(
    destination: Destination,
    found: readonly FoundAddress[] | undefined,
    tools: UpstreamTools,
  ): Generator<void, void> {
    this.group = yield* groupOf(destination, found, this.pool, tools, this.group);
  }

  /** Some endpoint may be asked. */
  get available(): boolean {
    return this.group.available > 0;
  }

  /** True while discovery has found no endpoint, and no other address takes its place. */
  get isEmpty(): boolean {
    return this.group.endpoints.length === 0;
  }
}

export class Upstreams {
  readonly #upstreams: ReadonlyMap<string, Upstream>;
  /** Placements of sticky sessions; undefined where no store is configured. */
  readonly sessions: Placements | undefined;
  /** Undefined where nothing is installed. */
  readonly signed: SignedCookies | undefined;

  private constructor(upstreams: ReadonlyMap<string, Upstream>, tools?: UpstreamTools) {
    this.#upstreams = upstreams;
    this.sessions = tools?.sessions;
    this.signed = tools?.signed;
  }

  static readonly none = new Upstreams(new Map());

  /** `formers` are in force, the one that is replaced first; they go on untouched until they are retired. */
  static *open(
    destinations: readonly Destination[],
    discovered: Discovered,
    tools: UpstreamTools,
    formers: readonly Upstreams[],
  ): Generator<void, Upstreams> {
    const upstreams = new Map<string, Upstream>();
    for (const destination of destinations) {
      const content = contentOf(destination);
      const row = tools.states.rowOf(destination.id);
      // What counts elsewhere is another thing, however alike: its row goes with its configuration.
      const known = formers.flatMap((former) => former.get(destination.id) ?? []).filter((each) => each.row === row);
      const found = discovered.get(destination.id);
      const upstream =
        known.find((each) => each.content === content) ??
        (yield* Upstream.open(destination, content, found, tools, known[0]));
      upstreams.set(destination.id, upstream);
      if (upstreams.size % 16 === 0) yield;
    }
    return new Upstreams(upstreams, tools);
  }

  get(id: string): Upstream | undefined {
    return this.#upstreams.get(id);
  }

  values(): Iterable<Upstream> {
    return this.#upstreams.values();
  }
}

/**
 * Ends the former upstreams that the current ones have not taken over: idle connections now, busy ones with their
 * exchange.
 */
export function retireUpstreams(former: readonly Upstreams[], current: readonly Upstreams[]): void {
  const before = new Set(former.flatMap((each) => [...each.values()]));
  for (const upstreams of current) for (const upstream of upstreams.values()) before.delete(upstream);
  retainEndpoints(before, current);
}

/** The pools of `changed` keep what is in force, and end where none of it is. */
export function retainEndpoints(changed: ReadonlySet<Upstream>, current: readonly Upstreams[]): void {
  if (changed.size === 0) return;
  const kept = new Map<DestinationPool, Set<string>>([...changed].map(({ pool }) => [pool, new Set()]));
  const used = new Set<DestinationPool>();
  for (const upstreams of current) {
    for (const { pool, group } of upstreams.values()) {
      const names = kept.get(pool);
      if (names === undefined) continue;
      used.add(pool);
      for (const { name } of group.endpoints) names.add(name);
    }
  }
  for (const [pool, names] of kept) {
    if (used.has(pool)) pool.retain(names);
    else pool.close();
  }
}

function* groupOf(
  destination: Destination,
  found: readonly FoundAddress[] | undefined,
  pool: DestinationPool,
  { states, clock, random, place }: UpstreamTools,
  former: EndpointGroup | undefined,
): Generator<void, EndpointGroup> {
  const { id, options } = destination;
  const addresses = endpointsOf(destination, found);
  const state = states.destination(id);
  const endpoints = addresses.map((address) => ({
    name: address.name,
    label: address.label,
    weight: address.weight,
    priority: address.priority,
    state: states.endpoint(id, address.name),
    address,
    pool: pool.endpoint(address),
  }));
  const plan = balancingPlan(options);
  const text = balancerText(plan, endpoints);
  const balancer = former?.balancerText === text ? former.balancer : yield* balancerOf(plan, endpoints, random, place);
  const outlier = new OutlierDetector(state, endpoints.length, outlierLimits(options) ?? noEjections, clock);
  return new EndpointGroup(state, endpoints, { balancer, text, random }, outlier);
}

function poolOptions(destination: Destination, protocol: UpstreamProtocol): PoolOptions {
  const { options } = destination;
  const timeouts = options?.timeouts;
  const defaults = destinationDefaults.timeouts;
  return {
    proxyProtocol: options?.proxyProtocol,
    connectionsMax: options?.maxConnsPerHost ?? destinationDefaults.maxConnsPerHost,
    waitingMax: breakerLimits(options).waitingMax,
    connectMs: durationMs(timeouts?.connect, defaults.connect),
    dualStackFallbackMs: durationMs(timeouts?.dualStackFallback, defaults.dualStackFallback),
    security: UpstreamSecurity.of(destination, protocol),
    tlsHandshakeMs: durationMs(timeouts?.tlsHandshake, defaults.tlsHandshake),
    responseHeaderMs: durationMs(timeouts?.responseHeader, defaults.responseHeader),
    idleMs: durationMs(timeouts?.idleConnection, defaults.idleConnection),
    maxAgeMs: durationMs(options?.maxConnectionAge, destinationDefaults.maxConnectionAge),
    lenience: lenienceOf(options?.lenient),
  };
}
