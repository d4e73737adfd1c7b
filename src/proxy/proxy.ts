// Data plane as the rest of the program sees it: it takes configurations from a source and serves the latest.
// Made by main.ts; `installed` informs the activation of a snapshot when its configuration is live.

import { markHidden } from '../model/hidden.ts';
import type { ReportLeases } from '../model/lease-messages.ts';
import type { OwnPlace } from '../model/listener-place.ts';
import type { MismatchSource } from '../model/mirror-mismatch.ts';
import type { Problem } from '../model/problem.ts';
import type { Candidate, ConfigSource, ProxyConfig } from '../model/proxy-config.ts';
import type { RecentSource } from '../model/recent-request.ts';
import type { TrafficCounts } from '../model/traffic-windows.ts';
import type { DataPlaneSettings } from '../settings/data-plane-settings.ts';
import type { LeaseFigures } from '../telemetry/lease-metrics.ts';
import type { Telemetry } from '../telemetry/logger.ts';
import type { NamedThread } from '../telemetry/thread-vitals.ts';
import type { UpstreamFigures } from '../telemetry/upstream-metrics.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import type { LogPaths } from './access-log/log-paths.ts';
import { CandidateController, type CandidateResult } from './candidate-controller.ts';
import type { FoundMismatch } from './exchange/verdict.ts';
import { type KnownStates, nothingKnown } from './explain/explained-destination.ts';
import type { ListenerStatus } from './listener/listeners.ts';
import { PortWatch } from './listener/port-watch.ts';
import { MetricsServer } from './metrics/metrics-server.ts';
import { Mismatches } from './mismatches.ts';
import { Redaction } from './redaction.ts';
import { KnownConfigurations } from './requests/known-configurations.ts';
import { PlaceReclaimer } from './requests/place-reclaimer.ts';
import { RequestHistory } from './requests/request-history.ts';
import { newRing, type RingShape } from './requests/request-ring.ts';
import { ExampleLog, type FoundExample } from './shadow/example-log.ts';
import { type ClientFigures, ClientLoad } from './shared/client-load.ts';
import { type ConfigRole, sumOfFigures } from './shared/figures.ts';
import { installTrace } from './tracing/install-trace.ts';
import type { Threads } from './worker/port.ts';
import { vetoOf } from './worker/prepare-result.ts';
import { chooseSockets } from './worker/socket-choice.ts';
import { Workers } from './worker/workers.ts';

export interface ProxyOptions {
  readonly source: ConfigSource;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly settings: DataPlaneSettings;
  /** Ports of the process itself, asked for at the start: no listener opens there. Default: none. */
  readonly ownPlaces?: (() => readonly OwnPlace[]) | undefined;
  /** Paths that access logs may have. Default: any. */
  readonly logPaths?: LogPaths | undefined;
  /** Receives the result of each configuration that was taken up and not overtaken. */
  readonly onSettled?: ((outcome: InstallResult) => void) | undefined;
  /** Receives the result of each candidate. One that was taken up may be refused later, when a worker crashes over it. */
  readonly onCandidate?: ((outcome: CandidateResult) => void) | undefined;
  /**
   * Way to the leader for rate limits that the cluster shares. Default: none, and a key of such a limit has one request
   * in each window.
   */
  readonly leases?: ReportLeases | undefined;
  /** Threads of the workers. Default: new ones. */
  readonly threads?: Threads | undefined;
}

export interface InstallResult {
  readonly config: ProxyConfig;
  /** Why it is not live: the former one stays. Undefined: it is. */
  readonly refusal: string | undefined;
  /** Problems that closed a part, or the reason of the refusal; entities by id. */
  readonly problems: readonly Problem[];
  readonly tookMs: number;
}

export interface Proxy {
  /** Begins to take configurations. Resolves when the one the source has at that moment, if any, is installed. */
  start(): Promise<void>;
  /** Stops accepting, lets exchanges finish, cuts what is left after `withinMs`. */
  close(options: { readonly withinMs: number }): Promise<void>;
  /**
   * Resolves once a configuration of this order (the index, where there is no other) or a later one is live in every
   * worker, its listeners bound, when it is refused, or after `withinMs`. `done` of `of` workers have it; one that has
   * crashed has none.
   */
  installed(index: number, withinMs: number): Promise<{ readonly done: number; readonly of: number }>;
  listeners(): readonly ListenerStatus[];
  /** State of upstreams now: health, ejections, circuits, discovered endpoints. */
  known(): KnownStates;
  /** Access logs go on in new files where theirs were moved away. */
  reopenLogs(): void;
  /** Number of lines of access logs that were lost since the start. */
  lostLogLines(): number;
  /** Figures of the traffic served since the start, all threads together. */
  figures(role: ConfigRole): TrafficCounts;
  /** State of each thread: `worker 1`, … */
  threads(): readonly NamedThread[];
  /** Figures of upstreams for the operator. */
  upstreams(): UpstreamFigures;
  /** Connections of clients, and what limits have closed. */
  clients(): ClientFigures;
  /** Parts that are held of budgets of the cluster. */
  leases(): LeaseFigures;
  /** The candidate that it serves to some; undefined when there is none. */
  candidate(): Candidate | undefined;
  /** The requests that ended last. */
  readonly recent: RecentSource;
  /** The responses of mirrors that differed last. */
  readonly mismatches: MismatchSource;
}

export function createProxy(options: ProxyOptions): Proxy {
  return new SourcedProxy(options);
}

class SourcedProxy implements Proxy {
  readonly #source: ConfigSource;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #startWorkers: () => Workers;
  readonly #waiting = new Set<() => void>();
  readonly #redaction = new Redaction();
  readonly #ports: PortWatch;
  readonly #settings: DataPlaneSettings;
  readonly #metrics = new MetricsServer(async (listener, collected) =>
    this.#workers === undefined ? new Uint8Array() : await this.#workers.expose(listener, collected),
  );
  #workers: Workers | undefined;
  /** Taken up and not yet begun; a newer one takes its place. */
  #next: ProxyConfig | undefined;
  /** Order of the newest configuration taken up. Invariant: live <= taken. */
  #taken = -1;
  /** Order of the newest one that is live in every thread. */
  #live = -1;
  /** Order of the newest one that was refused. */
  #refused = -1;
  /** The one being installed, and how many threads have it. */
  #settling = { order: -1, done: 0 };
  #installing: Promise<void> | undefined;
  #isInstalling = false;
  #closing = false;
  #unsubscribe: Cancel = () => {};
  #unsubscribeCandidate: Cancel = () => {};
  #unsubscribeFacts: Cancel[] = [];
  readonly #trials: CandidateController;
  /** Order of the configuration that makes the candidate the active one. */
  #promoting = -1;
  readonly #onSettled: (outcome: InstallResult) => void;
  readonly recent: RecentSource;
  readonly #reclaimer: PlaceReclaimer | undefined;
  readonly #known = new KnownConfigurations();
  readonly mismatches: Mismatches;
  readonly #examples: ExampleLog;

  constructor(options: ProxyOptions) {
    const { source, clock } = options;
    const { sockets, problem } = chooseSockets(options.settings.sockets);
    const settings = problem === undefined ? options.settings : Object.freeze({ ...options.settings, sockets });
    const { recent } = settings;
    const telemetry = { ...options.telemetry, logger: this.#redaction.logger(options.telemetry.logger) };
    const { onSettled = () => {}, onCandidate = () => {} } = options;
    this.#onSettled = onSettled;
    const { logger } = telemetry;
    if (problem !== undefined) logger.warn({ problem }, 'the data plane uses the sockets of Node, which are slower');
    this.#trials = new CandidateController({ installer: () => this.#trying(), clock, logger, onSettled: onCandidate });
    const onCandidateLost = (reason: string): void => this.#trials.lost(reason);
    this.#source = source;
    this.#settings = settings;
    this.#clock = clock;
    this.#telemetry = telemetry;
    const { slots, headers, query } = recent;
    const ring: RingShape | undefined = slots > 0 ? newRing(slots, settings.workers, headers, query) : undefined;
    this.recent = new RequestHistory(ring);
    this.#reclaimer = ring && new PlaceReclaimer(ring, () => this.#known.list(this.#trials.offered?.config), clock);
    this.mismatches = new Mismatches((text) => this.#redaction.trafficText(text), clock);
    const onMismatch = (mismatch: FoundMismatch): void => this.mismatches.take(mismatch);
    this.#examples = new ExampleLog((text) => this.#redaction.trafficText(text), clock);
    const onExample = (example: FoundExample): void => this.#examples.take(example);
    const { leases, logPaths, threads } = options;
    const kept = {
      onMismatch,
      onExample,
      onCandidateLost,
      clock,
      telemetry,
      settings,
      ring,
      leases,
      logPaths,
      threads,
    };
    this.#startWorkers = () => new Workers({ ...kept, ownPlaces: options.ownPlaces?.() ?? [] });
    const reopen = async (): Promise<void> => this.#workers?.reopen();
    this.#ports = new PortWatch({ listeners: () => this.listeners(), reopen }, clock, telemetry.logger);
  }

  async start(): Promise<void> {
    const { metricsAddress } = this.#settings;
    if (metricsAddress !== undefined) await this.#metrics.listen(metricsAddress);
    this.#workers = this.#startWorkers();
    this.#unsubscribe = this.#source.subscribe((config) => this.#take(config));
    const hears = (candidate: Candidate | undefined): void => this.#takeCandidate(candidate);
    this.#unsubscribeCandidate = this.#source.subscribeCandidate?.(hears) ?? this.#unsubscribeCandidate;
    const { drains, cookieKeys } = this.#source;
    this.#unsubscribeFacts = [
      drains?.subscribe(({ endpoints }) => this.#workers?.drain(endpoints)),
      cookieKeys?.subscribe(({ keys }) => this.#workers?.useCookieKeys(keys)),
    ].filter((end) => end !== undefined);
    this.#reclaimer?.start();
    await this.#installing;
  }

  async close({ withinMs }: { readonly withinMs: number }): Promise<void> {
    this.#unsubscribe();
    this.#unsubscribeCandidate();
    for (const unsubscribe of this.#unsubscribeFacts) unsubscribe();
    this.#ports.end();
    this.#reclaimer?.close();
    this.#next = undefined;
    this.#closing = true;
    await this.#installing;
    await this.#workers?.close(withinMs);
    if (this.#settings.metricsAddress !== undefined) await this.#metrics.close();
  }

  async installed(index: number, withinMs: number): Promise<{ done: number; of: number }> {
    if (this.#live < index && this.#refused < index) await this.#reached(index, withinMs);
    const of = this.#settings.workers;
    if (this.#live >= index) return { done: this.#workers?.serving ?? 0, of };
    return { done: this.#settling.order >= index ? this.#settling.done : 0, of };
  }

  known(): KnownStates {
    return this.#workers?.known ?? nothingKnown;
  }

  listeners(): readonly ListenerStatus[] {
    return this.#workers?.listeners().map((status) => this.#redaction.listener(status)) ?? [];
  }

  reopenLogs(): void {
    this.#workers?.reopenLogs();
  }

  lostLogLines(): number {
    return this.#workers?.lostLogLines() ?? 0;
  }

  threads(): readonly NamedThread[] {
    const all = this.#workers?.vitals() ?? [];
    return all.map((vitals, place) => ({ thread: `worker ${place + 1}`, vitals }));
  }

  upstreams(): UpstreamFigures {
    return this.#workers?.upstreams() ?? { stores: [], lostCopies: [], cookies: {} };
  }

  clients(): ClientFigures {
    return this.#workers?.clients() ?? new ClientLoad(ClientLoad.memory(1), 0).figures();
  }

  leases(): LeaseFigures {
    return this.#workers?.leases() ?? { held: 0, isInContact: undefined };
  }

  candidate(): Candidate | undefined {
    return this.#trials.offered;
  }

  figures(role: ConfigRole): TrafficCounts {
    const figures = this.#workers?.figures(role) ?? sumOfFigures([]);
    return figures.shadow === undefined ? figures : { ...figures, examples: this.#examples.examples };
  }

  /** Candidates are taken with their marks, as activations are. */
  #trying(): Pick<Workers, 'offer' | 'share' | 'withdraw'> | undefined {
    const workers = this.#workers;
    return (
      workers && {
        offer: (candidate) => {
          this.#examples.begin(candidate.rollout);
          return workers.offer({ ...candidate, config: markHidden(candidate.config) });
        },
        share: (share, shadowSample) => workers.share(share, shadowSample),
        withdraw: () => workers.withdraw(),
      }
    );
  }

  #take(config: ProxyConfig): void {
    const { logger } = this.#telemetry;
    if (orderOf(config) <= this.#taken) {
      logger.debug({ index: config.index, installed: this.#taken }, 'a configuration that is not newer is passed over');
      return;
    }
    this.#taken = orderOf(config);
    this.#next = config;
    this.#known.give(config);
    this.#promoting = this.#trials.isOffered(config) ? orderOf(config) : -1;
    this.#proceed();
  }

  #takeCandidate(candidate: Candidate | undefined): void {
    this.#redaction.learn('candidate', candidate?.config);
    const isInstalling = this.#taken > Math.max(this.#live, this.#refused);
    this.#trials.want(candidate, this.#promoting >= 0 ? 'promotion' : isInstalling ? 'another' : undefined);
    this.#proceed();
  }

  /** In one run after the other, so that each begins with what the one before has left. */
  #proceed(): void {
    if (this.#isInstalling) return;
    this.#isInstalling = true;
    this.#installing = this.#installAll();
  }

  async #installAll(): Promise<void> {
    for (;;) {
      for (let config = this.#next; config !== undefined; config = this.#next) {
        this.#next = undefined;
        await this.#install(config);
      }
      // A candidate is held against what is active: without that there is none.
      const step = this.#closing || this.#live < 0 ? undefined : this.#trials.step();
      if (step === undefined) break;
      await step;
    }
    this.#isInstalling = false;
  }

  async #install(config: ProxyConfig): Promise<void> {
    const settling = { order: orderOf(config), done: 0 };
    this.#settling = settling;
    this.#redaction.learn('next', config);
    const startedMs = this.#clock.monotonicMs();
    const settled = (problems: readonly Problem[], refusal?: string): void =>
      this.#onSettled({ config, refusal, problems, tookMs: this.#clock.monotonicMs() - startedMs });
    const trace = installTrace(this.#telemetry.traces?.work, config, this.#settings.workers);
    let problems: readonly Problem[] = [];
    try {
      const counted = (place: number): void => {
        settling.done++;
        trace?.done(place);
      };
      problems = await this.#putInForce(config, counted);
    } catch (error) {
      const refusal = vetoOf(error);
      trace?.end('refused');
      this.#refuse(config, refusal.veto);
      this.#refused = orderOf(config);
      this.#known.settle(config, false);
      for (const wake of this.#waiting) wake();
      settled(refusal.problems, refusal.veto);
      return;
    }
    trace?.end();
    this.#live = orderOf(config);
    this.#known.settle(config, true);
    this.#metrics.take(config.snapshot.listeners);
    this.#redaction.settle();
    this.#ports.look();
    this.#telemetry.logger.info({ snapshot: config.id, index: config.index }, 'a snapshot is live');
    for (const wake of this.#waiting) wake();
    settled(problems);
  }

  async #putInForce(config: ProxyConfig, onThreadDone: (place: number) => void): Promise<readonly Problem[]> {
    try {
      if (this.#promoting === orderOf(config) && this.#trials.isOffered(config)) {
        await this.#workers?.promote(markHidden(config), onThreadDone);
        return this.#trials.promoted();
      }
    } catch (error) {
      // A worker has crashed over it meanwhile: it is installed like any other, and may be refused like any other.
      this.#telemetry.logger.warn({ reason: vetoOf(error).veto }, 'a candidate cannot be promoted and is installed');
    } finally {
      if (this.#promoting === orderOf(config)) this.#promoting = -1;
    }
    return (await this.#workers?.install(markHidden(config), onThreadDone)) ?? [];
  }

  #refuse({ id, index }: ProxyConfig, problems: string): void {
    this.#telemetry.logger.error(
      { snapshot: id, index, problems },
      'a snapshot cannot be installed, the former one stays',
    );
  }

  #reached(index: number, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#waiting.delete(look);
        resolve();
      };
      const look = (): void => {
        if (this.#live >= index || this.#refused >= index) done();
      };
      const cancel = this.#clock.after(withinMs, done);
      this.#waiting.add(look);
    });
  }
}

const orderOf = ({ order, index }: ProxyConfig): number => order ?? index;
