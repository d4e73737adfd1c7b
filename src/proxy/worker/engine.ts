// Everything that serves requests in one thread: the tables of the generation in force and of the one being prepared,
// the upstreams, the listeners. It runs in a worker, or in the calling thread where there are none.
import type { Clock } from '../../clock.ts';
import { describe, type Problem } from '../../model/problem.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { Tracing } from '../../telemetry/traces/tracing.ts';
import type { Memory } from '../compile/compile.ts';
import { compileInSlices, inSlices } from '../compile/slices.ts';
import type { Installed } from '../exchange/context.ts';
import { ExternalServices } from '../external/external-services.ts';
import type { ListenerTools } from '../listener/listener.ts';
import { type BusyPlace, type ListenerStatus, Listeners } from '../listener/listeners.ts';
import { RoutingTable } from '../match/routing-table.ts';
import type { MetricBlock } from '../metrics/metric-block.ts';
import type { CommonServices, MiddlewareServices } from '../middleware/services.ts';
import type { RecentRequests } from '../requests/recent-requests.ts';
import type { Figures } from '../shared/figures.ts';
import type { TicketSecrets } from '../shared/ticket-secrets.ts';
import type { UpstreamStates } from '../shared/upstream-states.ts';
import { needsSystemRoots, readySystemRoots } from '../tls/system-roots.ts';
import { ExchangeTraces } from '../tracing/exchange-traces.ts';
import type { FoundAddress } from '../upstream/endpoint-address.ts';
import { NameLookup } from '../upstream/name-lookup.ts';
import type { RedisOptions } from '../upstream/session/redis-session-store.ts';
import { RedisSessionStore } from '../upstream/session/redis-session-store.ts';
import { type Discovered, Upstreams, type UpstreamTools } from '../upstream/upstreams.ts';
import { Wheel } from '../wheel.ts';
import type { BodyLimits } from './body-limits.ts';
import { Refusal } from './verdict.ts';

export interface EngineOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly bindAddress: string | undefined;
  /** Other threads listen on the same ports. */
  readonly shared: boolean;
  /** What the threads know together of upstreams, and which of them this is. */
  readonly states: UpstreamStates;
  readonly place: number;
  /** Where sticky sessions are remembered; undefined: nowhere. */
  readonly sessionStore: RedisOptions | undefined;
  /** Those of the process. */
  readonly tickets: TicketSecrets;
  /** The generation in force; asked when a request head arrives. */
  readonly generation: () => number;
  readonly limits: BodyLimits;
  /** What middlewares share with other threads. */
  readonly common: CommonServices;
  readonly metrics: MetricBlock;
  readonly figures: Figures;
  /** Undefined: nothing is remembered. */
  readonly recent: RecentRequests | undefined;
  /** Of this thread; undefined: nothing is traced. */
  readonly tracing: Tracing | undefined;
  readonly scrape: ListenerTools['scrape'];
}

const drainMsMax = 30_000;

interface Generation extends Installed {
  readonly number: number;
  readonly config: ProxyConfig | undefined;
}

export class Engine {
  readonly #generation: () => number;
  readonly #tools: UpstreamTools;
  readonly #discovered = new Map<string, readonly FoundAddress[]>();
  readonly #services: MiddlewareServices;
  readonly #external: ExternalServices;
  readonly #listeners: Listeners;
  #current: Generation;
  #prepared: Generation | undefined;
  readonly #telemetry: Telemetry;
  /** Of the table compiled last. */
  #memory: Memory | undefined;

  constructor(options: EngineOptions) {
    const { clock, telemetry, bindAddress, shared, tickets, states, place, generation, limits, ...others } = options;
    const { metrics, figures, recent, scrape, common, sessionStore, tracing } = others;
    const traces = tracing && new ExchangeTraces(tracing, clock);
    this.#generation = generation;
    this.#telemetry = telemetry;
    const wheel = new Wheel(clock);
    const sessions = sessionStore && new RedisSessionStore(sessionStore, clock, telemetry.logger);
    this.#tools = {
      wheel,
      clock,
      names: new NameLookup(clock),
      random: Math.random,
      states,
      place,
      sessions,
    };
    const upstreams = Upstreams.none;
    this.#external = new ExternalServices(clock);
    this.#services = { ...common, clock, wheel, logger: telemetry.logger, external: this.#external };
    const snapshot = { index: 0, id: '', name: '' };
    const role = 'stable';
    this.#current = { number: generation(), config: undefined, table: RoutingTable.empty, upstreams, snapshot, role };
    const installed = (): Installed => this.#installed();
    const own = { bindAddress, drainMsMax, shared, tickets, metrics, figures, recent, scrape, traces };
    this.#listeners = new Listeners({ installed, clock, wheel, telemetry, ...own, ...limits });
  }

  /**
   * Compiles beside what is in force, in slices. Gives what had to be closed. Rejects with Refusal when it cannot;
   * nothing has changed then. The rows of all its destinations have been adopted.
   */
  async prepare(number: number, config: ProxyConfig, discovered: Discovered): Promise<readonly Problem[]> {
    this.#discovered.clear();
    for (const [id, endpoints] of discovered) this.#discovered.set(id, endpoints);
    const { snapshot } = config;
    const { clock } = this.#tools;
    const fromMs = clock.monotonicMs();
    const { table, problems, memory } = await compileInSlices(snapshot, this.#memory, this.#services);
    const about = { worker: this.#tools.place + 1, snapshot: config.id, ms: Math.round(clock.monotonicMs() - fromMs) };
    this.#telemetry.logger.debug(about, 'a worker has compiled a configuration');
    if (table === undefined) throw new Refusal(problems);
    if (problems.length > 0) {
      this.#telemetry.logger.error({ snapshot: config.id, problems: describe(problems) }, 'routes are closed');
    }
    this.#memory = memory;
    await this.#listeners.prepare(snapshot.listeners);
    if (snapshot.destinations.some(needsSystemRoots)) await readySystemRoots();
    const former = this.#current.upstreams;
    const upstreams = await inSlices(Upstreams.open(snapshot.destinations, this.#discovered, this.#tools, former));
    const { index, id, name } = config;
    this.#prepared = { number, config, table, upstreams, role: 'stable', snapshot: { index, id, name } };
    return problems;
  }

  /** Endpoints have changed without an activation. Not called while something is being prepared. */
  async rediscover(id: string, endpoints: readonly FoundAddress[]): Promise<void> {
    this.#discovered.set(id, endpoints);
    const generations = [this.#current, this.#prepared];
    for (const generation of generations) {
      const upstream = generation?.upstreams.get(id);
      const destination = generation?.config?.snapshot.destinations.find((each) => each.id === id);
      if (upstream === undefined || destination === undefined) continue;
      await inSlices(upstream.regroup(destination, endpoints, this.#tools));
    }
  }

  discard(number: number): void {
    if (this.#prepared?.number !== number) return;
    this.#prepared.upstreams.retire(this.#current.upstreams);
    this.#prepared = undefined;
  }

  /** Brings the listeners in line with the generation in force. `busy` ports stay closed. */
  async commit(busy: readonly BusyPlace[]): Promise<readonly ListenerStatus[]> {
    const { config } = this.#installed();
    await this.#listeners.install(config?.snapshot.listeners ?? [], busy);
    return this.#listeners.status();
  }

  listeners(): readonly ListenerStatus[] {
    return this.#listeners.status();
  }

  async close(withinMs: number): Promise<void> {
    await this.#listeners.close(withinMs);
    this.#external.close();
    this.#current.upstreams.retire(Upstreams.none);
    this.#tools.sessions?.close();
  }

  #installed(): Generation {
    const number = this.#generation();
    if (number !== this.#current.number && this.#prepared?.number === number) {
      const former = this.#current;
      this.#current = this.#prepared;
      this.#prepared = undefined;
      former.upstreams.retire(this.#current.upstreams);
      this.#external.follow(this.#current.config?.snapshot.destinations ?? []);
    }
    return this.#current;
  }
}
