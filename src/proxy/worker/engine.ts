// Everything that serves requests in one thread: the tables of the generation in force and of the one being prepared,
// the upstreams, the listeners.

import type { Listener } from '../../model/listener.ts';
import type { OwnPlace } from '../../model/listener-place.ts';
import { describe, type Problem } from '../../model/problem.ts';
import { listOf } from '../../model/proxy-config.ts';
import type { DataPlaneSettings } from '../../settings/data-plane-settings.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { Tracing } from '../../telemetry/traces/tracing.ts';
import type { Clock } from '../../util/clock.ts';
import { compileInSlices } from '../compile/compile-in-slices.ts';
import { inSlices } from '../compile-slices.ts';
import { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import type { Installed } from '../exchange/exchange-context.ts';
import { ExternalServices } from '../external/external-services.ts';
import { shareKeptBytes } from '../forward/mirror/kept-bytes.ts';
import { keySetName } from '../jwks/key-set-name.ts';
import type { ListenerTools } from '../listener/listener-tools.ts';
import { type BusyPlace, keyOf, type ListenerStatus, Listeners, placeOf } from '../listener/listeners.ts';
import { RoutingTable } from '../match/routing-table.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { MetricBlock } from '../metrics/metric-block.ts';
import { MiddlewareBindings, servicesOf } from '../middleware/destination-bindings.ts';
import { storedLimitsOf } from '../middleware/rate-limit/stored.ts';
import type { CommonServices, MiddlewareServices } from '../middleware/services.ts';
import { RedisStore } from '../redis/redis-store.ts';
import type { RecentRequests } from '../requests/request-recorder.ts';
import type { ShadowTools } from '../shadow/candidate-shadow.ts';
import type { BucketBlocks } from '../shared/bucket-allocator.ts';
import { ClientLoad } from '../shared/client-load.ts';
import type { CookieRing } from '../shared/cookie-ring.ts';
import type { ConfigRole, Figures } from '../shared/figures.ts';
import type { ListenerMemory } from '../shared/listener-loads.ts';
import type { PlacementTable } from '../shared/placement-table.ts';
import type { StoreReach } from '../shared/store-reach.ts';
import type { TicketSecrets } from '../shared/ticket-secrets.ts';
import { type EndpointRows, UpstreamStates } from '../shared/upstream-states.ts';
import { descriptorBounds } from '../socket/descriptors.ts';
import { UnfinishedHeads } from '../socket/unfinished-heads.ts';
import type { FoundStream, StreamQuestion } from '../stream/stream-question.ts';
import { StreamTable } from '../stream/stream-route-table.ts';
import { loadSystemRoots, needsSystemRoots } from '../tls/system-roots.ts';
import { ExchangeTraces } from '../tracing/exchange-traces.ts';
import type { FoundAddress } from '../upstream/endpoint-address.ts';
import { NameLookup } from '../upstream/name-lookup.ts';
import { Placements } from '../upstream/session/placements.ts';
import { SignedCookies } from '../upstream/session/signed-cookies.ts';
import {
  retainEndpoints,
  retireUpstreams,
  type Upstream,
  Upstreams,
  type UpstreamTools,
} from '../upstream/upstreams.ts';
import { Wheel } from '../wheel.ts';
import { PrepareRefusal } from './prepare-result.ts';
import { CandidateVariant, inRole, listenersOf, type Source, type Split, type Variant } from './variant.ts';

export interface EngineOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly settings: DataPlaneSettings;
  /** Ports of the process itself. */
  readonly ownPlaces: readonly OwnPlace[];
  /** Number of threads; `place` is the index of this one. */
  readonly threads: number;
  readonly place: number;
  /** Reachability of the store of sticky sessions. */
  readonly storeReach: StoreReach;
  /** Sticky sessions that the process knows; undefined where there is no store. */
  readonly placements: PlacementTable | undefined;
  /** Keys of signed session cookies of the process. */
  readonly cookieRing: CookieRing;
  /** Those of the process. */
  readonly tickets: TicketSecrets;
  /** The generation in force; asked when a request head arrives. */
  readonly generation: () => number;
  /** ClientLoad of the process. */
  readonly clients: SharedArrayBuffer;
  /** Services that middlewares share with other threads. */
  readonly common: CommonServices;
  /** Sets the memory for the rate limits of the table that is compiled next. */
  readonly useBlocks: (blocks: BucketBlocks) => void;
  readonly metrics: MetricBlock;
  readonly figures: Figures;
  /** Undefined: nothing is remembered. */
  readonly recent: RecentRequests | undefined;
  readonly mismatches: ListenerTools['mismatches'];
  readonly onExample: ShadowTools['onExample'];
  /** Tracing of this thread; undefined: nothing is traced. */
  readonly tracing: Tracing | undefined;
  readonly scrape: ListenerTools['scrape'];
}

/** Difference between a generation and the next one. */
export interface Change {
  /** Undefined: the stable configuration stays. */
  readonly stable: Source | undefined;
  readonly candidate: CandidateChange;
}

export type CandidateChange =
  /** The candidate stays as it is, if there is one. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'none' }
  | { readonly kind: 'offered'; readonly source: Source; readonly split: Split }
  /** The candidate becomes the stable configuration, by the activation of that index. Nothing is compiled again. */
  | { readonly kind: 'promoted'; readonly index: number };

interface Generation {
  readonly number: number;
  /** Undefined before the first. */
  readonly stable: Variant | undefined;
  readonly candidate: CandidateVariant | undefined;
}

const nothing: Installed = {
  table: RoutingTable.empty,
  upstreams: Upstreams.none,
  consumers: ConsumerDirectory.none,
  role: 'stable',
  snapshot: { index: 0, id: '', name: '' },
};

export class Engine {
  readonly #options: EngineOptions;
  readonly #tools: Omit<UpstreamTools, 'states'>;
  readonly #services: MiddlewareServices;
  readonly #bindings = new MiddlewareBindings();
  readonly #external: ExternalServices;
  readonly #listeners: Listeners;
  /** Number -1, which no generation has: a thread that starts later takes up the one in force. */
  #current: Generation = { number: -1, stable: undefined, candidate: undefined };
  #prepared: Generation | undefined;

  constructor(options: EngineOptions) {
    const { clock, telemetry, settings, ownPlaces, tickets, threads, place } = options;
    const { metrics, figures, recent, mismatches, scrape, common, storeReach, placements, tracing } = options;
    const { sessionStore } = settings;
    const traces = tracing && new ExchangeTraces(tracing, clock);
    this.#options = options;
    const wheel = new Wheel(clock);
    const onReach = (reached: boolean): void => storeReach.set(place, reached);
    const store =
      sessionStore && new RedisStore({ ...sessionStore, ...sessionStore.address }, clock, telemetry.logger, onReach);
    const sessions = store && placements && new Placements(store, placements, clock);
    const signed = new SignedCookies(options.cookieRing, clock);
    this.#tools = { wheel, clock, names: new NameLookup(clock), random: Math.random, place, sessions, signed };
    this.#external = new ExternalServices(this.#tools);
    this.#services = {
      ...common,
      clock,
      wheel,
      logger: telemetry.logger,
      share: (count) => Math.floor(count / threads) + (place < count % threads ? 1 : 0),
      externalOf: (middleware) => this.#external.directory(this.#bindings.destinationOf(middleware)),
      storedLimitsOf: (middleware) => storedLimitsOf(middleware, store, telemetry.logger),
      keysOf: (middleware, withinMs) =>
        common.keysNamed(keySetName(middleware, this.#bindings.destinationOf(middleware)), withinMs),
    };
    const installed = (request: RoutedRequest, at: string): Installed => this.#installed(request, at);
    shareKeptBytes(threads);
    const load = new ClientLoad(options.clients, place);
    const heads = new UnfinishedHeads(load, wheel, settings.maxUnfinishedHeadBytes, threads);
    const clients = { load, connectionsMax: settings.maxConnections ?? descriptorBounds.connections, place };
    const own = {
      clients,
      heads,
      settings,
      ownPlaces,
      tickets,
      metrics,
      figures,
      recent,
      mismatches,
      scrape,
      traces,
    };
    const streamOf = (question: StreamQuestion): FoundStream | undefined => this.#streamOf(question);
    this.#listeners = new Listeners({ installed, streamOf, clock, wheel, telemetry, ...own });
  }

  /**
   * Compiles beside what is in force, in slices. Gives what had to be closed. Rejects with Refusal when it cannot;
   * nothing has changed then.
   */
  async prepare(number: number, change: Change): Promise<readonly Problem[]> {
    const current = this.#inForce;
    const problems: Problem[] = [];
    const opened: Variant[] = [];
    const openVariant = async (
      source: Source,
      role: ConfigRole,
      former: readonly (Variant | undefined)[],
    ): Promise<Variant> => {
      const made = await this.#open(
        source,
        role,
        [...former, ...opened].filter((each) => each !== undefined),
        problems,
      );
      opened.push(made);
      return made;
    };
    const { stable, candidate } = current;
    try {
      const next = change.stable && (await openVariant(change.stable, 'stable', [stable, candidate?.variant]));
      this.#prepared = { number, ...(await this.#joined(next ?? stable, change.candidate, openVariant)) };
    } catch (error) {
      this.#retire(opened);
      throw error;
    }
    return problems;
  }

  async #joined(
    stable: Variant | undefined,
    change: CandidateChange,
    openVariant: (source: Source, role: ConfigRole, former: readonly (Variant | undefined)[]) => Promise<Variant>,
  ): Promise<Omit<Generation, 'number'>> {
    const { candidate } = this.#inForce;
    if (change.kind === 'kept') return { stable, candidate };
    if (change.kind === 'none') return { stable, candidate: undefined };
    if (change.kind === 'promoted') {
      if (candidate === undefined) throw new PrepareRefusal([], 'there is no candidate that could be promoted');
      return { stable: inRole(candidate.variant, 'stable', change.index), candidate: undefined };
    }
    const tried = await openVariant(change.source, 'candidate', [this.#inForce.stable, candidate?.variant]);
    const { figures, onExample } = this.#options;
    return {
      stable,
      candidate: new CandidateVariant(tried, change.split, { figures, onExample, random: Math.random }),
    };
  }

  async #open(
    { config, rows, discovered, blocks }: Source,
    role: ConfigRole,
    formers: readonly Variant[],
    closed: Problem[],
  ): Promise<Variant> {
    const { threads, place, settings, telemetry, useBlocks } = this.#options;
    const snapshot = this.#bindings.bind(config.snapshot);
    useBlocks(blocks);
    const fromMs = this.#tools.clock.monotonicMs();
    const { table, problems, memory } = await compileInSlices(snapshot, formers[0]?.memory, this.#services);
    const ms = Math.round(this.#tools.clock.monotonicMs() - fromMs);
    telemetry.logger.debug({ worker: place + 1, snapshot: config.id, ms }, 'a worker has compiled a configuration');
    if (table === undefined) throw new PrepareRefusal(problems);
    if (problems.length > 0) {
      telemetry.logger.error({ snapshot: config.id, problems: describe(problems) }, 'routes are closed');
      closed.push(...problems);
    }
    const streams = await inSlices(StreamTable.of(snapshot, this.#services));
    if (streams.problems.length > 0) {
      telemetry.logger.error({ snapshot: config.id, problems: describe(streams.problems) }, 'stream routes are closed');
      closed.push(...streams.problems);
    }
    const consumers = await inSlices(ConsumerDirectory.of(listOf(snapshot, 'consumers'), formers[0]?.consumers));
    if (consumers.problems.length > 0) {
      telemetry.logger.error(
        { snapshot: config.id, problems: describe(consumers.problems) },
        'credentials do not count',
      );
      closed.push(...consumers.problems);
    }
    await this.#listeners.prepare(snapshot.listeners);
    if (snapshot.destinations.some(needsSystemRoots)) await loadSystemRoots();
    const states = new UpstreamStates(threads, place);
    states.adopt(rows);
    const tools = { ...this.#tools, states };
    const former = formers.map(({ upstreams }) => upstreams);
    const upstreams = await inSlices(Upstreams.open(snapshot.destinations, discovered, tools, former));
    const { index, id, name } = config;
    return {
      config: { ...config, snapshot },
      table,
      streams: streams.table,
      memory,
      upstreams,
      consumers: consumers.directory,
      states,
      keys: rows.keys,
      discovered: new Map(discovered),
      listeners: listenersOf(config, settings.bindAddress),
      role,
      snapshot: { index, id, name },
    };
  }

  /** Endpoints of the destination with that key have changed without an activation. */
  async rediscover(key: string, endpoints: readonly FoundAddress[], rows: EndpointRows): Promise<void> {
    const done = new Set<Upstream>();
    for (const variant of variantsOf(this.#inForce, this.#prepared)) {
      const [id] = [...variant.keys].find(([, each]) => each === key) ?? [];
      const destination = variant.config.snapshot.destinations.find((each) => each.id === id);
      const upstream = variant.upstreams.get(id ?? '');
      if (id === undefined || destination === undefined || upstream === undefined) continue;
      variant.states.extend(id, rows);
      variant.discovered.set(id, endpoints);
      if (done.has(upstream)) continue;
      done.add(upstream);
      await inSlices(upstream.regroup(destination, endpoints, { ...this.#tools, states: variant.states }));
    }
    retainEndpoints(done, upstreamsOf(variantsOf(this.#inForce, this.#prepared)));
  }

  discard(number: number): void {
    if (this.#prepared?.number !== number) return;
    const variants = variantsOf(this.#prepared);
    this.#prepared = undefined;
    this.#retire(variants);
  }

  /** Brings the listeners in line with the generation in force. `busy` ports stay closed. */
  async commit(busy: readonly BusyPlace[], memory: ListenerMemory): Promise<readonly ListenerStatus[]> {
    await this.#listeners.install(this.#wanted(), busy, memory);
    return this.#listeners.status();
  }

  listeners(): readonly ListenerStatus[] {
    return this.#listeners.status();
  }

  async close(withinMs: number): Promise<void> {
    await this.#listeners.close(withinMs);
    this.#external.close();
    const current = this.#inForce;
    this.#current = { number: current.number, stable: undefined, candidate: undefined };
    this.#retire(variantsOf(current));
    this.#tools.sessions?.close();
  }

  /** Listeners to open. A listener that only the candidate has is open while the candidate serves clients here. */
  #wanted(): readonly Listener[] {
    const { stable, candidate } = this.#inForce;
    const own = stable?.config.snapshot.listeners ?? [];
    if (candidate === undefined || !candidate.isServed) return own;
    const { bindAddress } = this.#options.settings;
    const further = candidate.variant.config.snapshot.listeners.filter(
      (listener) => stable?.listeners.has(keyOf(placeOf(listener, bindAddress))) !== true,
    );
    return [...own, ...further];
  }

  #installed(request: RoutedRequest, place: string): Installed {
    const { stable, candidate } = this.#inForce;
    if (stable === undefined) return nothing;
    return candidate === undefined ? stable : candidate.of(request, place, stable);
  }

  #streamOf({ place, listener, serverName, clientIp }: StreamQuestion): FoundStream | undefined {
    const { stable, candidate } = this.#inForce;
    if (stable === undefined) return undefined;
    const installed = candidate?.of({ clientIp, header: () => undefined }, place, stable) ?? stable;
    const section = installed.listeners.at(place, listener)?.sectionOf(serverName);
    const plan = section && installed.streams.find(section, serverName, clientIp);
    return plan && { plan, section, installed };
  }

  /** The generation in force: the first call after a cut-over takes it up. */
  get #inForce(): Generation {
    const number = this.#options.generation();
    if (number !== this.#current.number && this.#prepared?.number === number) {
      const former = this.#current;
      this.#current = this.#prepared;
      this.#prepared = undefined;
      if (former.candidate !== undefined && former.candidate !== this.#current.candidate) {
        former.candidate.variant.isOver = true;
      }
      this.#retire(variantsOf(former));
      const variants = variantsOf(this.#current);
      this.#external.follow(variants.flatMap(({ config }) => servicesOf(config.snapshot)));
    }
    return this.#current;
  }

  #retire(former: readonly Variant[]): void {
    retireUpstreams(upstreamsOf(former), upstreamsOf(variantsOf(this.#current, this.#prepared)));
  }
}

const variantsOf = (...generations: readonly (Generation | undefined)[]): Variant[] =>
  generations
    .flatMap((generation) => [generation?.stable, generation?.candidate?.variant])
    .filter((variant) => variant !== undefined);

const upstreamsOf = (variants: readonly Variant[]): Upstreams[] => variants.map(({ upstreams }) => upstreams);
