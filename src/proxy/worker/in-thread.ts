// The engine in the calling thread: one process without workers, and tests.
import type { Cancel, Clock } from '../../clock.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { KnownStates } from '../explain/explained-destination.ts';
import type { ListenerStatus } from '../listener/listeners.ts';
import { Exposition, renderInSlices } from '../metrics/exposition.ts';
import { MetricBlock, newMetricBytes } from '../metrics/metric-block.ts';
import { RecentRequests } from '../requests/recent-requests.ts';
import type { RingShape } from '../requests/request-ring.ts';
import { type ConfigRole, Figures, type RoleFigures } from '../shared/figures.ts';
import { TicketSecrets } from '../shared/ticket-secrets.ts';
import { UpstreamStates } from '../shared/upstream-states.ts';
import type { InstallTrace } from '../tracing/install-trace.ts';
import { findCluster, thisMachine } from '../upstream/discovery/cluster-access.ts';
import type { RedisOptions } from '../upstream/session/redis-session-store.ts';
import type { BodyLimits } from './body-limits.ts';
import { CommonParts } from './common-services.ts';
import { Engine } from './engine.ts';
import type { Installer } from './installer.ts';
import { MiddlewareDesk } from './middleware-desk.ts';
import { Turns } from './turns.ts';
import { UpstreamSupervisor } from './upstream-supervisor.ts';

export interface InThreadOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly bindAddress: string | undefined;
  readonly sessionStore?: RedisOptions | undefined;
  readonly limits: BodyLimits;
  readonly ring?: RingShape | undefined;
}

export class InThread implements Installer {
  readonly size = 1;
  readonly serving = 1;
  readonly #engine: Engine;
  readonly #desk: MiddlewareDesk;
  readonly #common: CommonParts;
  readonly #turns = new Turns();
  readonly #states = new UpstreamStates(1, 0);
  readonly #supervisor: UpstreamSupervisor;
  readonly #figures = new Figures();
  readonly #stopRotating: Cancel;
  #generation = 0;

  constructor(options: InThreadOptions) {
    const { clock, telemetry } = options;
    const tickets = new TicketSecrets();
    this.#stopRotating = tickets.keepRotating(clock);
    const desk = new MiddlewareDesk(clock, telemetry.logger, {
      tell: (id, document) => this.#common.keys.hear(id, document),
      forget: (id) => this.#common.keys.forget(id),
    });
    this.#desk = desk;
    this.#common = new CommonParts({
      clock,
      seed: desk.seed,
      offsetMs: -clock.monotonicMs(),
      wantKeys: (id) => desk.askForKeys(id),
      sendLines: (batch) => desk.write(batch, () => this.#common.lines.written(batch.path, batch.text.length)),
    });
    const bytes = newMetricBytes();
    const exposition = new Exposition();
    exposition.block(0, bytes);
    this.#engine = new Engine({
      ...options,
      sessionStore: options.sessionStore,
      common: this.#common.services,
      tickets,
      shared: false,
      states: this.#states,
      place: 0,
      metrics: new MetricBlock(bytes, {
        define: (series) => exposition.define(0, series),
        forget: (listener) => exposition.forget(0, listener),
      }),
      figures: this.#figures,
      recent: options.ring && new RecentRequests(options.ring, 0, clock),
      tracing: telemetry.traces?.tracing,
      scrape: (listener, collected) => renderInSlices(exposition, listener, collected, this.#supervisor),
      generation: () => this.#generation,
    });
    this.#supervisor = new UpstreamSupervisor({
      threads: 1,
      clock: options.clock,
      logger: options.telemetry.logger,
      findCluster: () => findCluster(thisMachine),
      onDiscovered: (id, endpoints, rows) => {
        void this.#turns.take(() => {
          this.#states.adopt(rows);
          return this.#engine.rediscover(id, endpoints);
        });
      },
    });
  }

  get known(): KnownStates {
    return this.#supervisor;
  }

  install(config: ProxyConfig, onThreadDone: () => void, trace?: InstallTrace): Promise<readonly Problem[]> {
    return this.#turns.take(async () => {
      const end = trace?.worker(0);
      this.#common.blocks = this.#desk.blocksFor(config.snapshot);
      const { destinations } = config.snapshot;
      this.#states.adopt(this.#supervisor.prepare(destinations));
      let problems: readonly Problem[];
      try {
        problems = await this.#engine.prepare(this.#generation + 1, config, this.#supervisor.discovered);
      } catch (error) {
        this.#supervisor.discard();
        end?.('refused');
        throw error;
      }
      this.#generation++;
      this.#supervisor.follow(destinations);
      this.#desk.follow(config.snapshot);
      await this.#engine.commit([]);
      end?.('');
      onThreadDone();
      return problems;
    });
  }

  reopen(): Promise<void> {
    return this.#turns.take(async () => {
      if (this.listeners().some(({ state }) => state === 'waiting')) await this.#engine.commit([]);
    });
  }

  listeners(): readonly ListenerStatus[] {
    return this.#engine.listeners();
  }

  reopenLogs(): void {
    this.#desk.reopenLogs();
  }

  figures(role: ConfigRole): RoleFigures {
    return this.#figures.read(role);
  }

  close(withinMs: number): Promise<void> {
    this.#stopRotating();
    return this.#turns.take(async () => {
      await this.#engine.close(withinMs);
      await this.#supervisor.close();
      this.#common.lines.flush();
      await this.#desk.close();
    });
  }
}
