// The engine in the calling thread: one process without workers, and tests.

import { findCluster, thisMachine } from '../../kubernetes/cluster-access.ts';
import type { DrainedEndpoint } from '../../model/drained-endpoint.ts';
import type { ReportLeases } from '../../model/lease-messages.ts';
import type { OwnPlace } from '../../model/listener-place.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { DataPlaneSettings } from '../../settings/data-plane-settings.ts';
import type { LeaseFigures } from '../../telemetry/lease-metrics.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { ThreadVitals } from '../../telemetry/thread-vitals.ts';
import type { UpstreamFigures } from '../../telemetry/upstream-metrics.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { anyLogPath, type LogPaths } from '../access-log/log-paths.ts';
import type { FoundMismatch } from '../exchange/verdict.ts';
import type { KnownStates } from '../explain/explained-destination.ts';
import { noLeases } from '../lease/lease-holder.ts';
import type { ListenerStatus } from '../listener/listeners.ts';
import { Exposition, renderInSlices } from '../metrics/exposition.ts';
import type { Collected } from '../metrics/families.ts';
import { MetricBlock, newMetricBytes } from '../metrics/metric-block.ts';
import { OutdatedLabels } from '../metrics/outdated-labels.ts';
import { RecentRequests } from '../requests/request-recorder.ts';
import type { RingShape } from '../requests/request-ring.ts';
import type { FoundExample } from '../shadow/example-log.ts';
import { type ClientFigures, ClientLoad } from '../shared/client-load.ts';
import { type ConfigRole, Figures, type RoleFigures } from '../shared/figures.ts';
import { ListenerLoads } from '../shared/listener-loads.ts';
import { PlacementTable } from '../shared/placement-table.ts';
import { ShareCell } from '../shared/share-cell.ts';
import { StoreReach } from '../shared/store-reach.ts';
import { TicketSecrets } from '../shared/ticket-secrets.ts';
import { WorkerServices } from './common-services.ts';
import { type Change, Engine } from './engine.ts';
import type { Installer, Offer } from './installer.ts';
import { MiddlewareState } from './middleware-state.ts';
import { SerialQueue } from './serial-queue.ts';
import { UpstreamSupervisor } from './upstream-supervisor.ts';
import type { Source } from './variant.ts';

export interface InThreadOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly settings: DataPlaneSettings;
  /** Ports of the process itself. */
  readonly ownPlaces: readonly OwnPlace[];
  /** Default: any path. */
  readonly logPaths?: LogPaths | undefined;
  readonly ring?: RingShape | undefined;
  /** Way to the leader for limits that the cluster shares. Default: none. */
  readonly leases?: ReportLeases | undefined;
  /** Default: mismatches are dropped. */
  readonly onMismatch?: ((mismatch: FoundMismatch) => void) | undefined;
  /** Default: examples of shadows are dropped. */
  readonly onExample?: ((example: FoundExample) => void) | undefined;
}

export class InThread implements Installer {
  readonly size = 1;
  readonly serving = 1;
  readonly #exposition = new Exposition();
  readonly #storeReach = StoreReach.of(1);
  readonly #engine: Engine;
  readonly #middlewares: MiddlewareState;
  readonly #common: WorkerServices;
  readonly #turns = new SerialQueue();
  readonly #supervisor: UpstreamSupervisor;
  readonly #figures = new Figures();
  readonly #clients = new ClientLoad(ClientLoad.memory(1), 0);
  readonly #listenerLoads = new ListenerLoads(1);
  readonly #outdated: OutdatedLabels;
  readonly #stopRotating: Cancel;
  #generation = 0;
  #stable: ProxyConfig | undefined;
  #candidate: { readonly config: ProxyConfig; readonly share: ShareCell } | undefined;

  constructor(options: InThreadOptions) {
    const { clock, telemetry } = options;
    const tickets = new TicketSecrets();
    this.#stopRotating = tickets.keepRotating(clock);
    const middlewares = new MiddlewareState(
      clock,
      telemetry.logger,
      options.logPaths ?? anyLogPath,
      {
        send: (id, document) => this.#common.keys.receive(id, document),
        forget: (id) => this.#common.keys.forget(id),
      },
      {
        report: options.leases ?? noLeases,
        onSettled: (limit, rows) => this.#common.leases.settled(limit, rows),
      },
    );
    this.#middlewares = middlewares;
    this.#common = new WorkerServices({
      clock,
      seed: middlewares.seed,
      offsetMs: -clock.monotonicMs(),
      wantKeys: (id) => middlewares.requestKeys(id),
      wantLease: (wanted) => middlewares.requestLease(wanted),
      sendLines: (batch) => middlewares.write(batch, () => this.#common.lines.written(batch.path, batch.bytes.length)),
    });
    const bytes = newMetricBytes();
    const exposition = this.#exposition;
    exposition.block(0, bytes);
    const metrics = new MetricBlock(bytes, {
      define: (series) => exposition.define(0, series),
      forget: (listener) => exposition.forget(0, listener),
    });
    this.#engine = new Engine({
      ...options,
      storeReach: this.#storeReach,
      placements: options.settings.sessionStore && new PlacementTable(),
      common: this.#common.services,
      tickets,
      shared: false,
      clients: this.#clients.buffer,
      useBlocks: (blocks) => {
        this.#common.blocks = blocks;
      },
      threads: 1,
      place: 0,
      metrics,
      figures: this.#figures,
      recent: options.ring && new RecentRequests(options.ring, 0, clock),
      mismatches: options.onMismatch ?? (() => {}),
      onExample: options.onExample ?? (() => {}),
      tracing: telemetry.traces?.tracing,
      scrape: (listener, collected) => this.expose(listener, collected),
      generation: () => this.#generation,
    });
    this.#supervisor = new UpstreamSupervisor({
      threads: 1,
      clock: options.clock,
      logger: options.telemetry.logger,
      findCluster: () => findCluster(thisMachine),
      onDiscovered: (key, endpoints, rows) => {
        void this.#turns.take(() => this.#engine.rediscover(key, endpoints, rows));
      },
    });
    this.#outdated = new OutdatedLabels({
      exposition,
      states: this.#supervisor,
      clock,
      post: (listener, subjects) => metrics.drop(listener, subjects),
    });
  }

  get known(): KnownStates {
    return this.#supervisor;
  }

  install(config: ProxyConfig, onThreadDone: (place: number) => void): Promise<readonly Problem[]> {
    return this.#turns.take(async () => {
      const problems = await this.#prepare('stable', config, (stable) => ({ stable, candidate: { kind: 'kept' } }));
      this.#stable = config;
      await this.#commit();
      onThreadDone(0);
      return [...problems, ...(await this.#middlewares.problemsOf(config.snapshot))];
    });
  }

  offer({ rollout, key, config }: Offer): Promise<readonly Problem[]> {
    return this.#turns.take(async () => {
      const share = new ShareCell();
      const split = { rollout, key, share: share.buffer };
      const change = (source: Source): Change => ({
        stable: undefined,
        candidate: { kind: 'offered', source, split },
      });
      const problems = await this.#prepare('candidate', config, change);
      this.#candidate = { config, share };
      await this.#commit();
      return [...problems, ...(await this.#middlewares.problemsOf(config.snapshot))];
    });
  }

  share(percent: number, shadowSample: number): void {
    if (this.#candidate === undefined) return;
    this.#candidate.share.shadowSample = shadowSample;
    this.#candidate.share.percent = percent;
    void this.#turns.take(async () => void (await this.#engine.commit([], this.#listenerLoads.memory)));
  }

  promote(config: ProxyConfig, onThreadDone: (place: number) => void): Promise<void> {
    return this.#turns.take(async () => {
      await this.#engine.prepare(this.#generation + 1, {
        stable: undefined,
        candidate: { kind: 'promoted', index: config.index },
      });
      this.#generation++;
      this.#stable = config;
      this.#candidate = undefined;
      this.#supervisor.promote();
      await this.#commit();
      onThreadDone(0);
    });
  }

  withdraw(): Promise<void> {
    if (this.#candidate !== undefined) {
      this.#candidate.share.percent = 0;
      this.#candidate.share.shadowSample = 0;
    }
    return this.#turns.take(async () => {
      if (this.#candidate === undefined) return;
      await this.#engine.prepare(this.#generation + 1, { stable: undefined, candidate: { kind: 'none' } });
      this.#generation++;
      this.#candidate = undefined;
      this.#supervisor.withdraw();
      await this.#commit();
    });
  }

  async #prepare(
    role: ConfigRole,
    config: ProxyConfig,
    changeBy: (source: Source) => Change,
  ): Promise<readonly Problem[]> {
    const { snapshot } = config;
    this.#supervisor.prepare(role, snapshot.destinations);
    const rows = this.#supervisor.rows(role);
    const source = {
      config,
      rows,
      discovered: this.#supervisor.discoveredBy(role),
      blocks: this.#middlewares.blocksFor(snapshot),
    };
    try {
      const problems = await this.#engine.prepare(this.#generation + 1, changeBy(source));
      this.#generation++;
      this.#supervisor.follow();
      return problems;
    } catch (error) {
      this.#supervisor.discard();
      throw error;
    }
  }

  async #commit(): Promise<void> {
    const inForce = [this.#stable, this.#candidate?.config].flatMap((config) => config?.snapshot ?? []);
    this.#middlewares.follow(inForce);
    this.#outdated.follow(inForce);
    this.#listenerLoads.follow(inForce.flatMap(({ listeners }) => listeners));
    await this.#engine.commit([], this.#listenerLoads.memory);
  }

  reopen(): Promise<void> {
    return this.#turns.take(async () => {
      if (this.listeners().some(({ state }) => state === 'waiting'))
        await this.#engine.commit([], this.#listenerLoads.memory);
    });
  }

  listeners(): readonly ListenerStatus[] {
    return this.#engine.listeners();
  }

  reopenLogs(): void {
    this.#middlewares.reopenLogs();
  }

  lostLogLines(): number {
    return this.#middlewares.lostLogLines;
  }

  leases(): LeaseFigures {
    return this.#middlewares.leases;
  }

  drain(endpoints: readonly DrainedEndpoint[]): void {
    this.#supervisor.drain(endpoints);
  }

  figures(role: ConfigRole): RoleFigures {
    return this.#figures.read(role);
  }

  vitals(): readonly ThreadVitals[] {
    return [];
  }

  upstreams(): UpstreamFigures {
    const stores = this.#storeReach.read().map(({ reached }) => ({ thread: 'main', reached }));
    return { stores, lostCopies: this.#supervisor.lostCopies() };
  }

  expose(listener: string, collected: Collected): Promise<Uint8Array> {
    return renderInSlices(this.#exposition, listener, collected, this.#supervisor);
  }

  clients(): ClientFigures {
    return this.#clients.figures();
  }

  close(withinMs: number): Promise<void> {
    this.#stopRotating();
    this.#outdated.close();
    return this.#turns.take(async () => {
      await this.#engine.close(withinMs);
      await this.#supervisor.close();
      this.#common.lines.flush();
      await this.#middlewares.close();
    });
  }
}
