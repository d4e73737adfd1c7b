// One member of a cluster, put together: log, checkpoint files, network, driver. The worker thread runs one of these;
// tests run several in one process. Any failure in it ends in one `fatal`, never in an exit.
import { capability, type Greeting } from '../codec/greeting.ts';
import type { CoreEvent } from '../core/output.ts';
import { seededRng } from '../core/rng.ts';
import type { Config, Index, LogPosition } from '../core/types.ts';
import { ownId, RaftDriver } from '../driver/driver.ts';
import type { Clock } from '../driver/driver-clock.ts';
import type { Host } from '../driver/driver-host.ts';
import { type DriverSettings, defaultDriverSettings } from '../driver/driver-settings.ts';
import { silentTransport } from '../driver/transport.ts';
import { configOf, memberOf } from '../membership/bootstrap.ts';
import { drawClusterId, drawNumber, type RandomBytes } from '../membership/member-identity.ts';
import { appliedProblem } from '../store/applied-check.ts';
import { CheckpointDirectory } from '../store/checkpoint-directory.ts';
import { removePartials } from '../store/checkpoint-files.ts';
import type { OpenedLog } from '../store/log-store.ts';
import { auditCheckpoints } from './checkpoint-audit.ts';
import { measureSpace } from './disk-watch.ts';
import { eventText } from './event-text.ts';
import { Maintenance } from './maintenance.ts';
import type { MemberHost } from './member-host.ts';
import { MemberLog, poisonedText } from './member-log.ts';
import { MemberNetwork } from './member-network.ts';
import { MemberNode } from './member-node.ts';
import { arePeersProven, checkpointDirectory, type RaftOptions } from './options.ts';
import { SenderWarnings } from './sender-warnings.ts';
import { type MemberStatus, statusOf } from './status.ts';

export interface MemberParts {
  readonly options: RaftOptions;
  readonly host: MemberHost;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Numbers that differ from the defaults; for tests. */
  readonly settings?: Partial<DriverSettings>;
}

/** Id of changes that the member proposes itself, below zero: their outcome is not reported. */
const ownChange = -1;

export class RaftMember {
  /** For everything the program above asks; refuses while there is no cluster. */
  readonly node: MemberNode['calls'];
  readonly #node: MemberNode;
  readonly #parts: MemberParts;
  readonly #run: number;
  readonly #log: MemberLog;
  readonly #checkpoints: CheckpointDirectory;
  #state: LogPosition = { index: 0, term: 0 };
  #network: MemberNetwork | undefined;
  #driver: RaftDriver | undefined;
  #maintenance: Maintenance | undefined;
  #isFinished = false;
  #isRemoved = false;
  #stateWaits = false;
  /** Opening, beginning and joining, one after the other. */
  #attempted: Promise<void> = Promise.resolve();

  constructor(parts: MemberParts) {
    const { options, host, random } = parts;
    const directory = checkpointDirectory(options);
    this.#parts = parts;
    this.#run = drawNumber(random);
    this.#log = new MemberLog(parts);
    this.#checkpoints = new CheckpointDirectory(directory, (error) => host.warning(`checkpoints: ${String(error)}`));
    this.#node = new MemberNode({
      host,
      checkpointDirectory: directory,
      isDiskFull: () => this.#maintenance?.space === 'full',
    });
    this.node = this.#node.calls;
  }

  /** Reads and judges the log, listens, and reports the result to the host. `begin` comes next. */
  open(): void {
    this.#attempt(async () => {
      await removePartials(checkpointDirectory(this.#parts.options));
      const opened = await this.#log.open();
      const { generation, boots, verdict, identity, boot } = opened;
      const lastIndex = boot.base.index + boot.entries.length;
      const closed = await this.#listen();
      if (closed !== undefined) {
        this.#parts.host.cannotListen(closed);
        return;
      }
      if (verdict.kind === 'suspect') this.#parts.host.warning(`the log is suspect: ${verdict.reason}`);
      this.#parts.host.opened({
        id: ownId(opened),
        clusterId: identity.clusterId,
        generation,
        boots,
        lastIndex,
        base: boot.base.index,
        checkpoint: this.#log.checkpointLost === undefined ? boot.checkpoint : undefined,
        verdict,
      });
    });
  }

  /**
   * `applied` is the last entry in the host's state. Index above 0 with term 0: the state was written before there
   * was a log, and this node founds a cluster of its own on top of it.
   */
  begin(applied: LogPosition): void {
    this.#attempt(async () => {
      this.#state = applied;
      const opened = this.#log.opened;
      if (opened?.identity.clusterId !== undefined) await this.#resume(opened);
      else if (this.#network === undefined || isBeforeRaft(applied)) await this.#found(configOf([this.#greeting()]));
      else if (applied.index > 0) throw new Error(`the state holds entry ${applied.index}, the log is empty`);
      else this.#network.startBootstrap((config) => this.#attempt(() => this.#found(config)));
    });
  }

  /** The program above cannot write its state for the time being, or can again. */
  stateWaits(waits: boolean): void {
    this.#stateWaits = waits;
  }

  /**
   * Listens before any report to the host, for a node that cannot be reached had better not start. Returns the error
   * code of a failure.
   */
  async #listen(): Promise<string | undefined> {
    const { cluster, nodeId } = this.#parts.options;
    if (cluster === undefined) return undefined;
    this.#network = new MemberNetwork({
      ...this.#parts,
      nodeId,
      cluster,
      self: () => this.#log.self,
      greeting: () => this.#greeting(),
      isRemoved: (id) => this.#driver?.inspect().config.removed.includes(id) ?? false,
      removed: () => this.#reportRemoved(removedText),
      contacted: (clusterId) => this.#attempt(() => this.#join(clusterId, undefined)),
    });
    try {
      await this.#network.listen();
      return undefined;
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    }
  }

  /** Creates the cluster. No other node can lead yet: there is nothing to wait for. */
  async #found(config: Config): Promise<void> {
    await this.#join(drawClusterId(this.#parts.random), config);
    this.#driver?.campaign();
  }

  async #join(clusterId: string, config: Config | undefined): Promise<void> {
    const { index, term } = this.#state;
    const behind = term > 0 ? `, behind entry ${index} of a log that is gone` : '';
    this.#parts.host.notice(`${config === undefined ? 'joins' : 'creates'} cluster ${clusterId}${behind}`);
    await this.#log.join(clusterId, config, this.#state);
    if (isBeforeRaft(this.#state)) this.#state = { ...this.#state, term: 1 };
    this.#drive();
  }

  async #resume(opened: OpenedLog): Promise<void> {
    const { options, host } = this.#parts;
    const problem = appliedProblem(opened.boot, this.#state);
    if (problem !== undefined) this.#log.store.poison(problem);
    const hopeless = problem === undefined ? this.#log.hopeless : poisonedText(options.directory, problem);
    if (hopeless !== undefined) throw new Error(hopeless);
    const known = opened.identity.nodeId;
    const self = memberOf({ ...this.#greeting(), nodeId: options.nodeId });
    if (known !== options.nodeId) {
      if (await this.#log.rename(self, options.nodeId)) this.#network?.transport.renamed();
      else host.warning(`the settings call this node ${options.nodeId}, its cluster knows it as ${known}`);
    }
    this.#drive();
  }

  #drive(): void {
    const { clock, host, options, random, settings } = this.#parts;
    const warnings = new SenderWarnings(host, clock);
    const opened = this.#log.opened;
    if (opened?.identity.clusterId === undefined || this.#isFinished) return;
    const driver = new RaftDriver(
      {
        settings: {
          ...defaultDriverSettings,
          peersAreProven: arePeersProven(options),
          ...settings,
          clusterId: opened.identity.clusterId,
          id: ownId(opened),
        },
        store: this.#log.store,
        checkpoints: this.#checkpoints,
        transport: this.#network?.transport ?? silentTransport,
        clock,
        host: this.#driverHost(),
        rng: seededRng(drawNumber(random) % 2 ** 32),
        observe: (event) => {
          if (event.type === 'removed') this.#reportRemoved(removedAt(event.index));
          warnings.happened(event);
          this.#detail(event);
        },
      },
      opened,
      this.#state.index,
    );
    this.#driver = driver;
    this.#node.attach(driver, this.#log.checkpointLost);
    driver.start();
    const { config, configIndex, settings: own } = driver.inspect();
    if (config.removed.includes(own.id)) this.#reportRemoved(removedAt(configIndex));
    this.#network?.lookAround();
    this.#maintenance = this.#takeCare(driver);
  }

  /** Once: who dials on is told again at each attempt. */
  #reportRemoved(why: string): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#parts.host.removed?.(why);
  }

  #driverHost(): Host {
    const { host } = this.#parts;
    return {
      committed: (batch) => host.committed(batch),
      outcome: (id, outcome) => {
        if (id >= 0) host.outcome(id, outcome);
      },
      readable: (id, index) => host.readable(id, index),
      role: (report) => host.role(report),
      makeCheckpoint: () => host.makeCheckpoint(),
      install: (meta) => host.install(meta),
      adopt: (generation, index) => host.adopt(generation, index),
      discard: (generation) => host.discard(generation),
      disk: (problem) => host.disk(problem),
      fatal: (reason) => this.#fail(reason),
    };
  }

  #detail(event: CoreEvent): void {
    const { host, options } = this.#parts;
    // Commits are as frequent as writes.
    if (event.type === 'commit' || options.details === undefined) return;
    if (new Int32Array(options.details)[0] === 0) host.detail?.(eventText(event));
  }

  #takeCare(driver: RaftDriver): Maintenance {
    const { clock, options, host } = this.#parts;
    return new Maintenance({
      clock,
      policy: { autoJoin: options.cluster?.autoJoin ?? 'none' },
      leads: () => (driver.inspect().role === 'leader' ? driver.inspect().config : undefined),
      met: () => (this.#network === undefined ? [] : [this.#greeting(), ...this.#network.transport.met()]),
      change: (change) => driver.change(ownChange, change),
      stateWaits: () => this.#stateWaits,
      handOver: (times) => driver.transferByTurns(times),
      isSuspect: () => driver.isSuspect,
      trust: () => this.#log.store.trust(),
      measure: () => measureSpace(options.directory),
      clocks: () => driver.clockOffsets,
      audit: () =>
        auditCheckpoints({
          directory: checkpointDirectory(options),
          kept: () => driver.checkpoints,
          warning: (text) => host.warning(text),
          newestLost: (index) => this.#node.checkpointLost(index, driver.inspect().applied),
        }),
      notice: (text) => host.notice(text),
      warning: (text) => host.warning(text),
    });
  }

  /** Undefined until this node belongs to a cluster. */
  status(): MemberStatus | undefined {
    const transport = this.#network?.transport;
    const candidates = (transport?.met() ?? []).filter(({ clusterId }) => clusterId === undefined).map(memberOf);
    const driver = this.#driver;
    if (driver === undefined) return undefined;
    const { checkpoint, syncOutstandingMs, heardMs, clockOffsets, counts } = driver;
    const surroundings = {
      transport: transport?.counts,
      candidates,
      checkpoint,
      syncOutstandingMs,
      heardMs,
      clockOffsets,
      counts,
    };
    return statusOf(driver.inspect(), surroundings);
  }

  /** Hands leadership over, closes everything and leaves the mark of a clean stop. Calls `done` in any case. */
  stop(done: () => void): void {
    const clean = !this.#isFinished;
    this.#isFinished = true;
    this.#maintenance?.close();
    const close = () => {
      this.#network?.close();
      // A node that is just taking its place opens the log anew: what is closed must be the last one.
      const closed = Promise.all([this.#attempted, this.#checkpoints.close()]).then(() =>
        this.#log.store.close({ clean }),
      );
      closed.catch((error: unknown) => this.#parts.host.warning(`stop: ${String(error)}`)).finally(done);
    };
    if (this.#driver === undefined || this.#driver.isDead) close();
    else this.#driver.stop(close);
  }

  #greeting(): Greeting {
    const { options } = this.#parts;
    const opened = this.#log.opened;
    const log = this.#driver?.inspect().log;
    return {
      clusterId: opened?.identity.clusterId,
      nodeId: opened?.identity.nodeId ?? options.nodeId,
      incarnation: opened?.identity.incarnation ?? 0,
      boots: opened?.boots ?? 0,
      run: this.#run,
      address: options.cluster?.advertiseAddress ?? '',
      clientAddress: options.clientAddress,
      lastIndex: log?.lastIndex ?? 0,
      lastTerm: log?.term(log.lastIndex) ?? 0,
      expects: this.#network?.expects ?? [],
      keyFingerprint: options.keyFingerprint,
      capabilities: capability.sealedRecords,
    };
  }

  /** The way out for every failure that is not the driver's: the same `fatal`, once. */
  #attempt(run: () => Promise<void>): void {
    this.#attempted = this.#attempted
      .then(() => (this.#isFinished ? undefined : run()))
      .catch((error: unknown) => this.#fail(error instanceof Error ? error.message : String(error)));
  }

  #fail(reason: string): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#maintenance?.close();
    this.#network?.close();
    this.#parts.host.fatal(reason);
  }
}

const removedText = 'this node was removed from its cluster: to come back it needs an empty store';
const removedAt = (index: Index): string => removedText.replace(':', ` at index ${index}:`);

function isBeforeRaft({ index, term }: LogPosition): boolean {
  return index > 0 && term === 0;
}
