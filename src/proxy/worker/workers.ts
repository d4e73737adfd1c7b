// Set of the proxy workers, in main: they are started together, install together, and a worker that crashes is
// replaced. All listen on the same ports; the kernel spreads connections over them.

import { findCluster, thisMachine } from '../../kubernetes/cluster-access.ts';
import type { CookieKey } from '../../model/cookie-keys.ts';
import type { DrainedEndpoint } from '../../model/drained-endpoint.ts';
import type { ReportLeases } from '../../model/lease-messages.ts';
import type { OwnPlace } from '../../model/listener-place.ts';
import type { Problem } from '../../model/problem.ts';
import type { Candidate, ProxyConfig } from '../../model/proxy-config.ts';
import type { DataPlaneSettings } from '../../settings/data-plane-settings.ts';
import type { LeaseFigures } from '../../telemetry/lease-metrics.ts';
import { LevelCell } from '../../telemetry/log-levels.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { ThreadVitals } from '../../telemetry/thread-vitals.ts';
import type { UpstreamFigures } from '../../telemetry/upstream-metrics.ts';
import type { Clock } from '../../util/clock.ts';
import { anyLogPath, type LogPaths } from '../access-log/log-paths.ts';
import type { FoundMismatch } from '../exchange/verdict.ts';
import type { KnownStates } from '../explain/explained-destination.ts';
import { noLeases } from '../lease/lease-holder.ts';
import { findBusyPlaces } from '../listener/busy-places.ts';
import { type BusyPlace, keyOf, type ListenerStatus, statusIn } from '../listener/listeners.ts';
import { Exposition, renderInSlices } from '../metrics/exposition.ts';
import type { Collected } from '../metrics/families.ts';
import { OutdatedLabels } from '../metrics/outdated-labels.ts';
import type { RingShape } from '../requests/request-ring.ts';
import type { FoundExample } from '../shadow/example-log.ts';
import type { ClientFigures } from '../shared/client-load.ts';
import type { ConfigRole, RoleFigures } from '../shared/figures.ts';
import { ShareCell } from '../shared/share-cell.ts';
import { SignedCookies } from '../upstream/session/signed-cookies.ts';
import { HeldConfigurations } from './held-configurations.ts';
import { MiddlewareState } from './middleware-state.ts';
import type { Threads } from './port.ts';
import { PrepareRefusal } from './prepare-result.ts';
import type { PackedChange, ToWorker, WorkerStart } from './protocol.ts';
import { ReadyThreads } from './ready-threads.ts';
import { SerialQueue } from './serial-queue.ts';
import { systemMs } from './system-time.ts';
import { UpstreamSupervisor } from './upstream-supervisor.ts';
import { type CountingReader, WorkerHandle } from './worker-handle.ts';
import { WorkerMemory } from './worker-memory.ts';

export interface WorkersOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly settings: DataPlaneSettings;
  /** Ports of the process itself. */
  readonly ownPlaces: readonly OwnPlace[];
  /** Default: any path. */
  readonly logPaths?: LogPaths | undefined;
  /** The candidate is gone, since a worker has crashed while it served it. */
  readonly onCandidateLost?: ((reason: string) => void) | undefined;
  /** Memory of recent requests. Default: none. */
  readonly ring?: RingShape | undefined;
  /** Default: mismatches are dropped. */
  readonly onMismatch?: ((mismatch: FoundMismatch) => void) | undefined;
  /** Default: examples of shadows are dropped. */
  readonly onExample?: ((example: FoundExample) => void) | undefined;
  /** Way to the leader for limits that the cluster shares. Default: none. */
  readonly leases?: ReportLeases | undefined;
  /** Threads of the workers. Default: new ones. */
  readonly threads?: Threads | undefined;
}

/** A worker that crashes sooner than this after its start is replaced only after that time: no storm of starts. */
const restartMsMin = 1_000;

/** Time that a scrape waits for a worker, in milliseconds. */
const syncMsMax = 200;

export type Offer = Pick<Candidate, 'rollout' | 'key' | 'config'>;

export class Workers {
  readonly #options: WorkersOptions;
  readonly #threads: Threads;
  readonly #memory: WorkerMemory;
  readonly #supervisor: UpstreamSupervisor;
  readonly #middlewares: MiddlewareState;
  readonly #logLevel: LevelCell;
  readonly #epochMs = systemMs();
  readonly #exposition = new Exposition();
  readonly #outdated: OutdatedLabels;
  readonly #handles: WorkerHandle[];
  readonly #turns = new SerialQueue();
  readonly #held: HeldConfigurations;
  #number = 0;
  #busy: readonly BusyPlace[] = [];
  #closing = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#threads = options.threads ?? new ReadyThreads(0);
    const { workers: count } = options.settings;
    // Without one every line is sent.
    this.#logLevel = options.telemetry.level ?? new LevelCell();
    this.#memory = new WorkerMemory(options.settings, options.ring, options.clock);
    const toAll = (message: ToWorker): void => {
      for (const worker of this.#handles) worker.post(message);
    };
    this.#supervisor = new UpstreamSupervisor({
      signed: new SignedCookies(this.#memory.cookieRing, options.clock),
      threads: count,
      clock: options.clock,
      logger: options.telemetry.logger,
      findCluster: () => findCluster(thisMachine),
      onDiscovered: (key, endpoints, rows) => toAll({ type: 'discovered', key, endpoints, rows }),
    });
    this.#outdated = new OutdatedLabels({
      exposition: this.#exposition,
      states: this.#supervisor,
      clock: options.clock,
      post: (listener, subjects) => toAll({ type: 'outdated', listener, subjects }),
    });
    this.#middlewares = new MiddlewareState(
      options.clock,
      options.telemetry.logger,
      options.logPaths ?? anyLogPath,
      {
        send: (id, document) => toAll({ type: 'keys', id, document }),
        forget: (id) => toAll({ type: 'keysForgotten', id }),
      },
      {
        report: options.leases ?? noLeases,
        onSettled: (limit, rows) => toAll({ type: 'leased', limit, rows }),
      },
    );
    this.#held = new HeldConfigurations(this.#supervisor, this.#middlewares);
    for (const [place, bytes] of this.#memory.metricBytes().entries()) this.#exposition.block(place, bytes);
    this.#handles = Array.from({ length: count }, (_, i) => this.#startWorker(i));
  }

  /**
   * Number of threads that serve the last installed configuration: a crashed thread counts again once its replacement
   * serves.
   */
  get serving(): number {
    return this.#everyList().length;
  }

  /** State of upstreams now. */
  get known(): KnownStates {
    return this.#supervisor;
  }

  /**
   * Resolves when it is in force and every thread's listeners are settled, with what had to be closed; rejects with
   * Refusal when a thread cannot compile it. `onThreadDone` gets the place of each thread that has it.
   */
  install(config: ProxyConfig, onThreadDone: (place: number) => void): Promise<readonly Problem[]> {
    return this.#turns.take(async () => {
      const { held, packed } = await this.#held.pack('stable', config);
      const problems = await this.#prepare({ stable: packed, candidate: { kind: 'kept' } });
      this.#held.stable = held;
      await this.#commit(() => this.#supervisor.follow(), onThreadDone);
      return [...problems, ...(await this.#middlewares.problemsOf(config.snapshot))];
    });
  }

  /**
   * Puts a candidate beside the configuration in force, without clients at first: `share` sets which clients it
   * serves. Resolves and rejects as `install`. One at a time.
   */
  offer({ rollout, key, config }: Offer): Promise<readonly Problem[]> {
    return this.#turns.take(async () => {
      const { held, packed } = await this.#held.pack('candidate', config);
      const share = new ShareCell();
      const split = { rollout, key, share: share.buffer };
      const asked = [...this.#handles];
      const problems = await this.#prepare(
        { stable: undefined, candidate: { kind: 'offered', config: packed, split } },
        () => (asked.some(({ crashed }) => crashed) ? 'a worker crashes while it prepares it' : undefined),
      );
      this.#held.candidate = { ...held, split, share };
      await this.#commit(() => this.#supervisor.follow());
      return [...problems, ...(await this.#middlewares.problemsOf(config.snapshot))];
    });
  }

  /**
   * Percent that the candidate serves from this moment on. `shadowSample`: of the requests that stable serves one in so
   * many is matched against the candidate; 0: none.
   */
  share(percent: number, shadowSample: number): void {
    const candidate = this.#held.candidate;
    if (candidate === undefined) return;
    candidate.share.shadowSample = shadowSample;
    const wasServed = candidate.share.fraction > 0;
    candidate.share.percent = percent;
    // Listeners that only it has open and close with it.
    if (wasServed !== candidate.share.fraction > 0) void this.#turns.take(() => this.#commit());
  }

  /**
   * Makes the candidate the stable configuration, as `config` says, whose lists are its own. Nothing is compiled
   * again.
   */
  promote(config: ProxyConfig, onThreadDone: (place: number) => void): Promise<void> {
    return this.#turns.take(async () => {
      const candidate = this.#held.candidate;
      if (candidate === undefined) throw new PrepareRefusal([], 'there is no candidate that could be promoted');
      await this.#prepare({ stable: undefined, candidate: { kind: 'promoted', index: config.index } });
      const { index, id, name } = config;
      this.#held.stable = {
        configuration: config.snapshot,
        textOf: config.textOf,
        head: { ...candidate.head, index, id, name },
      };
      this.#held.candidate = undefined;
      await this.#commit(() => this.#supervisor.promote(), onThreadDone);
    });
  }

  /** Removes the candidate; it serves no client from this moment on. */
  withdraw(): Promise<void> {
    if (this.#held.candidate !== undefined) {
      this.#held.candidate.share.percent = 0;
      this.#held.candidate.share.shadowSample = 0;
    }
    return this.#turns.take(async () => {
      if (this.#held.candidate === undefined) return;
      await this.#prepare({ stable: undefined, candidate: { kind: 'none' } });
      this.#held.candidate = undefined;
      await this.#commit(() => this.#supervisor.withdraw());
    });
  }

  /** Tries again to open what is `waiting` for its port, beside everything that is open. */
  reopen(): Promise<void> {
    return this.#turns.take(() => this.#reopen());
  }

  /** A port counts as open when every worker that serves has it open. */
  listeners(): readonly ListenerStatus[] {
    const [first = [], ...others] = this.#everyList();
    return first.map((status) => {
      const elsewhere = others.map((list) => statusIn(list, status));
      return elsewhere.find((other) => other !== undefined && other.state !== 'open') ?? status;
    });
  }

  /** Access logs go on in new files where theirs were moved away. */
  reopenLogs(): void {
    this.#middlewares.reopenLogs();
  }

  /** Number of lines of access logs that were lost since the start. */
  lostLogLines(): number {
    return this.#middlewares.lostLogLines;
  }

  /** Parts that are held of budgets of the cluster. */
  leases(): LeaseFigures {
    return this.#middlewares.leases;
  }

  /** Endpoints that get no new requests from now on; all others do. */
  drain(endpoints: readonly DrainedEndpoint[]): void {
    this.#supervisor.drain(endpoints);
  }

  /** Sets the keys of signed session cookies, the newest first. */
  useCookieKeys(keys: readonly CookieKey[]): void {
    this.#memory.cookieRing.write(keys);
  }

  /** Figures of the traffic that all threads together have served since the start. */
  figures(role: ConfigRole): RoleFigures {
    return this.#memory.figures(role);
  }

  /** Vitals of each thread, in their order. */
  vitals(): readonly ThreadVitals[] {
    return this.#memory.vitals();
  }

  upstreams(): UpstreamFigures {
    const { cookieRing } = this.#memory;
    return {
      stores: this.#memory.stores(),
      lostCopies: this.#supervisor.lostCopies(),
      cookies: cookieRing.counts(),
    };
  }

  /** Connections of clients, and what limits have closed. */
  clients(): ClientFigures {
    return this.#memory.clients.figures();
  }

  async close(withinMs: number): Promise<void> {
    this.#closing = true;
    this.#memory.close();
    this.#outdated.close();
    await this.#turns.take(() => Promise.all(this.#handles.map((worker) => worker.close(withinMs))));
    await this.#middlewares.close();
    await this.#supervisor.close();
  }

  /** All have it, or none; `veto` may have a last word. */
  async #prepare(
    change: Omit<PackedChange, 'keep'>,
    veto: () => string | undefined = () => undefined,
  ): Promise<readonly Problem[]> {
    const generation = ++this.#number;
    const keep = this.#held.numbers();
    const results = await Promise.all(this.#handles.map((worker) => worker.prepare(generation, { ...change, keep })));
    const refused = results.find((result) => result.veto !== undefined);
    const reason = refused?.veto ?? veto();
    if (reason === undefined) return results.find(({ problems }) => problems.length > 0)?.problems ?? [];
    for (const worker of this.#handles) worker.post({ type: 'discard', generation });
    this.#supervisor.discard();
    throw new PrepareRefusal(refused?.problems ?? [{ pointer: '', message: reason }], reason);
  }

  /** Puts the prepared generation into force; `then` releases what no new request can reach. */
  async #commit(then: () => void = () => {}, onThreadDone: (place: number) => void = () => {}): Promise<void> {
    this.#busy = await this.#findBusy();
    const configurations = this.#held.all.map(({ configuration }) => configuration);
    this.#middlewares.follow(configurations);
    this.#outdated.follow(configurations);
    this.#memory.listenerLoads.follow(configurations.flatMap(({ listeners }) => listeners));
    this.#memory.generation = this.#number;
    then();
    const commit = async (worker: WorkerHandle, place: number): Promise<void> => {
      await worker.commit(this.#number, this.#busy, this.#memory.listenerLoads.memory);
      if (worker.listeners !== undefined) onThreadDone(place);
    };
    await Promise.all(this.#handles.map(commit));
  }

  async #reopen(): Promise<void> {
    const waiting = this.listeners().filter(({ state }) => state === 'waiting');
    if (this.#closing || this.#held.stable === undefined || waiting.length === 0) return;
    const busy = await this.#findBusy();
    this.#busy = busy;
    const stillBusy = new Set(busy.map(({ place }) => place));
    if (waiting.every((status) => stillBusy.has(keyOf(status)))) return;
    const { generation, listenerLoads } = this.#memory;
    await Promise.all(this.#handles.map((worker) => worker.commit(generation, busy, listenerLoads.memory)));
  }

  #findBusy(): Promise<BusyPlace[]> {
    const listeners = this.#held.all.flatMap(({ configuration }) => configuration.listeners);
    return findBusyPlaces(listeners, this.#everyList().flat(), this.#options.settings.bindAddress);
  }

  /** Listeners of each worker that has settled them. */
  #everyList(): (readonly ListenerStatus[])[] {
    return this.#handles.flatMap(({ listeners }) => (listeners === undefined ? [] : [listeners]));
  }

  #startWorker(place: number): WorkerHandle {
    const start: WorkerStart = {
      settings: this.#options.settings,
      ownPlaces: this.#options.ownPlaces,
      place,
      ...this.#memory.of(place),
      series: this.#exposition.inherited(place),
      logLevel: this.#logLevel.bytes,
      bucketSeed: this.#middlewares.seed,
      epochMs: this.#epochMs,
      traceRatio: this.#options.telemetry.traces?.sampleRatio,
    };
    const startedMs = performance.now();
    const { telemetry } = this.#options;
    const port = this.#threads.start(start);
    const counting: CountingReader = {
      define: (series) => this.#exposition.define(place, series),
      forget: (listener) => this.#exposition.forget(place, listener),
      expose: (listener, collected) => this.expose(listener, collected),
    };
    const worker: WorkerHandle = new WorkerHandle(port, telemetry, counting, {
      crash: () => {
        this.#supervisor.forget(place);
        this.#memory.forget(place);
        if (this.#closing) return;
        this.#blameCandidate();
        const waitMs = Math.max(0, restartMsMin - (performance.now() - startedMs));
        setTimeout(() => void this.#turns.take(() => this.#replace(place)), waitMs).unref();
      },
      keysWanted: (id) => this.#middlewares.requestKeys(id),
      leaseWanted: (wanted) => this.#middlewares.requestLease(wanted),
      mismatch: (mismatch) => this.#options.onMismatch?.(mismatch),
      example: (example) => this.#options.onExample?.(example),
      lines: (batch) => {
        const { path, bytes } = batch;
        this.#middlewares.write(batch, () => worker.post({ type: 'linesWritten', path, bytes: bytes.length }));
      },
    });
    this.#middlewares.repeatKeys((id, document) => worker.post({ type: 'keys', id, document }));
    return worker;
  }

  /**
   * Returns the metrics of a listener, of all threads, as text. Waits a little until every worker has said what its
   * numbers mean; one that is busy is not waited for.
   */
  async expose(listener: string, collected: Collected): Promise<Uint8Array<ArrayBuffer>> {
    const told = Promise.all(this.#handles.map((worker) => worker.sync()));
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, syncMsMax).unref())]);
    return renderInSlices(this.#exposition, listener, collected, this.#supervisor);
  }

  /**
   * Withdraws a candidate when a worker has crashed: the cause of the crash is uncertain, so while the candidate
   * serves clients it is blamed.
   */
  #blameCandidate(): void {
    const candidate = this.#held.candidate;
    if (candidate === undefined || candidate.share.fraction === 0) return;
    void this.withdraw();
    this.#options.onCandidateLost?.('a worker has crashed while it served the candidate');
  }

  /** In turn with activations: the new worker has to get each of them, or the one that is in force. */
  async #replace(place: number): Promise<void> {
    if (this.#closing) return;
    const { logger } = this.#options.telemetry;
    const worker = this.#startWorker(place);
    this.#handles[place] = worker;
    const { stable: held, candidate: tried, all } = this.#held;
    if (held === undefined) return;
    const stable = await this.#held.packNow('stable', held);
    const { generation, listenerLoads } = this.#memory;
    const candidate: PackedChange['candidate'] =
      tried === undefined
        ? { kind: 'none' }
        : { kind: 'offered', config: await this.#held.packNow('candidate', tried, held), split: tried.split };
    const keep = all.map(({ head }) => head.number);
    const { veto } = await worker.prepare(generation, { stable, candidate, keep });
    if (veto !== undefined)
      logger.error({ reason: veto }, 'a new proxy worker cannot serve the configuration in force');
    await worker.commit(generation, this.#busy, listenerLoads.memory);
    if (worker.listeners !== undefined) logger.info({}, 'a new proxy worker serves');
  }
}
