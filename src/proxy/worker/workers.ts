// The proxy workers as main sees them: they are started together, install together, and a worker that falls is
// replaced. All listen on the same ports; the kernel spreads connections over them.
import { createServer } from 'node:net';
import type { Cancel, Clock } from '../../clock.ts';
import type { Listener } from '../../model/listener.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import { LevelCell } from '../../telemetry/log-levels.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { KnownStates } from '../explain/explained-destination.ts';
import { type BusyPlace, keyOf, type ListenerStatus, placeOf, statusIn } from '../listener/listeners.ts';
import { Exposition, renderInSlices } from '../metrics/exposition.ts';
import type { Collected } from '../metrics/families.ts';
import { newMetricBytes } from '../metrics/metric-block.ts';
import { RequestRing, type RingShape } from '../requests/request-ring.ts';
import { type ConfigRole, Figures, newFigureBytes, type RoleFigures, sumOfFigures } from '../shared/figures.ts';
import { TicketSecrets } from '../shared/ticket-secrets.ts';
import type { InstallTrace } from '../tracing/install-trace.ts';
import { findCluster, thisMachine } from '../upstream/discovery/cluster-access.ts';
import type { RedisOptions } from '../upstream/session/redis-session-store.ts';
import type { BodyLimits } from './body-limits.ts';
import type { Installer } from './installer.ts';
import { type CountingReader, Member } from './member.ts';
import { MiddlewareDesk } from './middleware-desk.ts';
import { type PackedConfig, packConfig } from './packed-config.ts';
import type { ToWorker, WorkerStart } from './protocol.ts';
import { systemMs } from './system-time.ts';
import { Turns } from './turns.ts';
import { UpstreamSupervisor } from './upstream-supervisor.ts';
import { Refusal } from './verdict.ts';

export interface WorkersOptions {
  readonly count: number;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly bindAddress: string | undefined;
  readonly sessionStore?: RedisOptions | undefined;
  readonly limits: BodyLimits;
  /** Where recent requests are remembered. Default: nowhere. */
  readonly ring?: RingShape | undefined;
  /** What a worker runs. Default: thread.ts beside this file. */
  readonly thread?: URL | undefined;
}

const ownThread = new URL(`./thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/** A worker that falls sooner than this after its start is replaced only after that time: no storm of starts. */
const restartMsMin = 1_000;

/** What a scrape waits for a worker. */
const tellMsMax = 200;

interface InForce {
  readonly config: PackedConfig;
  readonly listeners: readonly Listener[];
  readonly busy: readonly BusyPlace[];
}

export class Workers implements Installer {
  readonly size: number;
  readonly #options: WorkersOptions;
  readonly #generation = new SharedArrayBuffer(4);
  readonly #cell = new Int32Array(this.#generation);
  readonly #supervisor: UpstreamSupervisor;
  readonly #desk: MiddlewareDesk;
  readonly #logLevel: LevelCell;
  readonly #epochMs = systemMs();
  readonly #exposition = new Exposition();
  readonly #metricBytes: readonly SharedArrayBuffer[];
  readonly #figureBytes: readonly SharedArrayBuffer[];
  readonly #tickets = new TicketSecrets();
  readonly #stopRotating: Cancel;
  readonly #members: Member[];
  readonly #turns = new Turns();
  #number = 0;
  #inForce: InForce | undefined;
  #closing = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.size = options.count;
    // Without one every line is sent.
    this.#logLevel = options.telemetry.level ?? new LevelCell();
    this.#stopRotating = this.#tickets.keepRotating(options.clock);
    const toAll = (message: ToWorker): void => {
      for (const member of this.#members) member.say(message);
    };
    this.#supervisor = new UpstreamSupervisor({
      threads: options.count,
      clock: options.clock,
      logger: options.telemetry.logger,
      findCluster: () => findCluster(thisMachine),
      onDiscovered: (id, endpoints, rows) => {
        const inForce = this.#inForce;
        if (inForce !== undefined) {
          const discovered = new Map(this.#supervisor.discovered);
          this.#inForce = { ...inForce, config: { ...inForce.config, rows, discovered } };
        }
        toAll({ type: 'discovered', id, endpoints, rows });
      },
    });
    this.#desk = new MiddlewareDesk(options.clock, options.telemetry.logger, {
      tell: (id, document) => toAll({ type: 'keys', id, document }),
      forget: (id) => toAll({ type: 'keysForgotten', id }),
    });
    this.#metricBytes = Array.from({ length: options.count }, () => newMetricBytes());
    this.#figureBytes = Array.from({ length: options.count }, () => newFigureBytes());
    for (const [place, bytes] of this.#metricBytes.entries()) this.#exposition.block(place, bytes);
    this.#members = Array.from({ length: options.count }, (_, i) => this.#startMember(i));
  }

  get serving(): number {
    return this.#everyList().length;
  }

  get known(): KnownStates {
    return this.#supervisor;
  }

  install(config: ProxyConfig, onThreadDone: () => void, trace?: InstallTrace): Promise<readonly Problem[]> {
    return this.#turns.take(() => this.#install(config, onThreadDone, trace));
  }

  reopen(): Promise<void> {
    return this.#turns.take(() => this.#reopen());
  }

  /** A port counts as open when every worker that serves has it open. */
  listeners(): readonly ListenerStatus[] {
    const [first = [], ...others] = this.#everyList();
    return first.map((status) => {
      const elsewhere = others.map((list) => statusIn(list, status.id));
      return elsewhere.find((other) => other !== undefined && other.state !== 'open') ?? status;
    });
  }

  reopenLogs(): void {
    this.#desk.reopenLogs();
  }

  figures(role: ConfigRole): RoleFigures {
    return sumOfFigures(this.#figureBytes.map((bytes) => new Figures(bytes).read(role)));
  }

  async close(withinMs: number): Promise<void> {
    this.#closing = true;
    this.#stopRotating();
    await this.#turns.take(() => Promise.all(this.#members.map((member) => member.close(withinMs))));
    await this.#desk.close();
    await this.#supervisor.close();
  }

  async #install(
    config: ProxyConfig,
    onThreadDone: () => void,
    trace: InstallTrace | undefined,
  ): Promise<readonly Problem[]> {
    const { destinations } = config.snapshot;
    const rows = this.#supervisor.prepare(destinations);
    const blocks = this.#desk.blocksFor(config.snapshot);
    const packed = packConfig(config, rows, new Map(this.#supervisor.discovered), blocks);
    const generation = ++this.#number;
    const ends = this.#members.map((_, place) => trace?.worker(place));
    const verdicts = await Promise.all(this.#members.map((member) => member.prepare(generation, packed)));
    const refused = verdicts.find(({ veto }) => veto !== undefined);
    if (refused !== undefined) {
      for (const end of ends) end?.('refused');
      for (const member of this.#members) member.say({ type: 'discard', generation });
      this.#supervisor.discard();
      throw new Refusal(refused.problems, refused.veto);
    }
    const { listeners } = config.snapshot;
    const busy = await this.#probe(listeners);
    this.#desk.follow(config.snapshot);
    Atomics.store(this.#cell, 0, generation);
    const discovered = new Map(this.#supervisor.discovered);
    this.#inForce = { config: { ...packed, rows: this.#supervisor.follow(destinations), discovered }, listeners, busy };
    const commit = async (member: Member, place: number): Promise<void> => {
      await member.commit(generation, busy);
      ends[place]?.(member.listeners === undefined ? 'fallen' : '');
      if (member.listeners !== undefined) onThreadDone();
    };
    await Promise.all(this.#members.map(commit));
    return verdicts.find(({ problems }) => problems.length > 0)?.problems ?? [];
  }

  async #reopen(): Promise<void> {
    const inForce = this.#inForce;
    const waiting = this.listeners().filter(({ state }) => state === 'waiting');
    if (this.#closing || inForce === undefined || waiting.length === 0) return;
    const busy = await this.#probe(inForce.listeners);
    this.#inForce = { ...inForce, busy };
    const stillBusy = new Set(busy.map(({ place }) => place));
    if (waiting.every((status) => stillBusy.has(keyOf(status)))) return;
    const generation = Atomics.load(this.#cell, 0);
    await Promise.all(this.#members.map((member) => member.commit(generation, busy)));
  }

  /**
   * `reusePort` lets a port be shared with strangers as well, so a port that no worker has yet is bound once without
   * it (architecture.md §9).
   */
  async #probe(listeners: readonly Listener[]): Promise<BusyPlace[]> {
    const opened = this.#everyList().flatMap((list) => list.filter(({ state }) => state === 'open'));
    const known = new Set(opened.map(keyOf));
    const busy: BusyPlace[] = [];
    for (const listener of listeners) {
      const place = placeOf(listener, this.#options.bindAddress);
      const key = keyOf(place);
      if (known.has(key)) continue;
      known.add(key);
      const reason = await bindOnce(place);
      if (reason !== undefined) busy.push({ place: key, reason });
    }
    return busy;
  }

  /** Of each worker that has settled its listeners. */
  #everyList(): (readonly ListenerStatus[])[] {
    return this.#members.flatMap(({ listeners }) => (listeners === undefined ? [] : [listeners]));
  }

  #startMember(place: number): Member {
    const start: WorkerStart = {
      bindAddress: this.#options.bindAddress,
      sessionStore: this.#options.sessionStore,
      limits: this.#options.limits,
      generation: this.#generation,
      tickets: this.#tickets.buffer,
      workers: this.size,
      place,
      metrics: this.#metricBytes[place] ?? newMetricBytes(),
      series: this.#exposition.inherited(place),
      figures: this.#figureBytes[place] ?? newFigureBytes(),
      ring: this.#options.ring,
      logLevel: this.#logLevel.bytes,
      shared: true,
      bucketSeed: this.#desk.seed,
      epochMs: this.#epochMs,
      traceRatio: this.#options.telemetry.traces?.sampleRatio,
    };
    const startedMs = performance.now();
    const { telemetry, thread = ownThread } = this.#options;
    const counting: CountingReader = {
      define: (series) => this.#exposition.define(place, series),
      forget: (listener) => this.#exposition.forget(place, listener),
      expose: (listener, collected) => this.#expose(listener, collected),
    };
    const member: Member = new Member(thread, start, telemetry, counting, {
      fall: () => {
        this.#supervisor.forget(place);
        if (this.#options.ring !== undefined) new RequestRing(this.#options.ring).release(place);
        if (this.#closing) return;
        const waitMs = Math.max(0, restartMsMin - (performance.now() - startedMs));
        setTimeout(() => void this.#turns.take(() => this.#replace(place)), waitMs).unref();
      },
      keysWanted: (id) => this.#desk.askForKeys(id),
      lines: (batch) => {
        const { path, text } = batch;
        this.#desk.write(batch, () => member.say({ type: 'linesWritten', path, characters: text.length }));
      },
    });
    this.#desk.repeatKeys((id, document) => member.say({ type: 'keys', id, document }));
    return member;
  }

  /** Waits a little until every worker has said what its numbers mean; one that is busy is not waited for. */
  async #expose(listener: string, collected: Collected): Promise<Uint8Array<ArrayBuffer>> {
    const told = Promise.all(this.#members.map((member) => member.tell()));
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, tellMsMax).unref())]);
    return renderInSlices(this.#exposition, listener, collected, this.#supervisor);
  }

  /** In turn with activations: the new worker has to get each of them, or the one that is in force. */
  async #replace(place: number): Promise<void> {
    if (this.#closing) return;
    const { logger } = this.#options.telemetry;
    const member = this.#startMember(place);
    this.#members[place] = member;
    const inForce = this.#inForce;
    if (inForce === undefined) return;
    const generation = Atomics.load(this.#cell, 0);
    const { veto } = await member.prepare(generation, inForce.config);
    if (veto !== undefined)
      logger.error({ reason: veto }, 'a new proxy worker cannot serve the configuration in force');
    await member.commit(generation, inForce.busy);
    if (member.listeners !== undefined) logger.info({}, 'a new proxy worker serves');
  }
}

/** Why the port cannot be had, if it cannot. */
function bindOnce({ address, port }: { address: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.message));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
