// One member of a cluster, put together: log store, checkpoint files, transport, lobby, driver. The worker thread runs
// one of these; tests run several in one process. Whatever goes wrong in it ends in one `fatal`, never in an exit.
import { join } from 'node:path';

import { seededRng } from '../core/rng.ts';
import { type Config, type Index, type LogPosition, type MemberId, memberId } from '../core/types.ts';
import { configOf, memberOf } from '../membership/bootstrap.ts';
import { drawClusterId, drawNumber, type RandomBytes } from '../membership/identity.ts';
import { latestConfig, renamedConfig } from '../membership/rename.ts';
import { appliedFault } from '../store/applied-check.ts';
import { CheckpointDirectory } from '../store/checkpoint-directory.ts';
import { removePartials, verifyCheckpoint } from '../store/checkpoint-files.ts';
import { LevelLogStore } from '../store/level-log-store.ts';
import type { OpenedLog, Verdict } from '../store/log-store.ts';
import { Caretaker } from './caretaker.ts';
import type { Clock } from './clock.ts';
import { measureSpace } from './disk-watch.ts';
import { ownId, RaftDriver } from './driver.ts';
import type { CheckpointImage, Host, MembershipChange, Outcome, RaftNode } from './host.ts';
import { MemberNetwork } from './member-network.ts';
import { checkpointDirectory, type RaftOptions } from './options.ts';
import { type DriverSettings, defaultDriverSettings } from './settings.ts';
import { silentTransport } from './silent-transport.ts';
import { type MemberStatus, statusOf } from './status.ts';

/** What the log says about this node, before anything runs. The host deletes the generations that do not count. */
export interface OpenedReport {
  readonly id: MemberId;
  /** Undefined: this node waits for a cluster, or creates one. */
  readonly clusterId: string | undefined;
  readonly generation: number;
  readonly boots: number;
  readonly verdict: Verdict;
}

export interface MemberHost extends Host {
  opened(report: OpenedReport): void;
  /** Something worth a line in the log; never more than a few a minute. */
  notice(text: string): void;
}

export interface MemberParts {
  readonly options: RaftOptions;
  readonly host: MemberHost;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Numbers that differ from the defaults; for tests. */
  readonly settings?: Partial<DriverSettings>;
}

/** Proposals of the member itself have ids below zero: their outcome is nobody's business. */
const ownChange = -1;

export class RaftMember implements RaftNode {
  readonly #parts: MemberParts;
  readonly #run: number;
  readonly #checkpointDirectory: string;
  readonly #checkpoints: CheckpointDirectory;
  #store: LevelLogStore;
  #opened: OpenedLog | undefined;
  #state: LogPosition = { index: 0, term: 0 };
  #network: MemberNetwork | undefined;
  #driver: RaftDriver | undefined;
  #caretaker: Caretaker | undefined;
  #isFinished = false;

  constructor(parts: MemberParts) {
    this.#parts = parts;
    this.#run = drawNumber(parts.random);
    this.#checkpointDirectory = checkpointDirectory(parts.options);
    this.#checkpoints = new CheckpointDirectory(this.#checkpointDirectory, (error) =>
      parts.host.notice(`checkpoint files: ${String(error)}`),
    );
    this.#store = this.#newStore();
  }

  /** Reads and judges the log, and tells the host what counts. `begin` comes next. */
  open(): void {
    this.#attempt(async () => {
      await removePartials(this.#checkpointDirectory);
      const opened = await this.#openLog();
      if (opened === undefined) return;
      const { generation, boots, verdict, identity } = opened;
      if (verdict.kind === 'suspect') this.#parts.host.notice(`the log is suspect: ${verdict.reason}`);
      this.#parts.host.opened({ id: ownId(opened), clusterId: identity.clusterId, generation, boots, verdict });
    });
  }

  /**
   * `applied` is the last entry in the host's state. Index above 0 with term 0: the state was written before there
   * was a log, and this node founds a cluster of its own on top of it.
   */
  begin(applied: LogPosition): void {
    this.#attempt(async () => {
      this.#state = applied;
      await this.#listen();
      const clusterId = this.#opened?.identity.clusterId;
      if (clusterId !== undefined) await this.#resume();
      else if (this.#network === undefined || isBeforeRaft(applied)) await this.#found(this.#soleConfig());
      else if (applied.index > 0) this.#fail(`the state holds entry ${applied.index}, the log is empty`);
      else this.#network.enterLobby((config) => this.#attempt(() => this.#found(config)));
    });
  }

  async #listen(): Promise<void> {
    const { cluster } = this.#parts.options;
    if (cluster === undefined) return;
    this.#network = new MemberNetwork({
      ...this.#parts,
      nodeId: this.#parts.options.nodeId,
      cluster,
      greeting: () => this.#greeting(),
      contacted: (clusterId) => this.#attempt(() => this.#join(clusterId, undefined)),
    });
    await this.#network.listen();
  }

  #found(config: Config): Promise<void> {
    return this.#join(drawClusterId(this.#parts.random), config);
  }

  async #join(clusterId: string, config: Config | undefined): Promise<void> {
    this.#parts.host.notice(config === undefined ? `joins cluster ${clusterId}` : `creates cluster ${clusterId}`);
    await this.#store.join(clusterId, config, config === undefined ? 0 : this.#state.index);
    if (isBeforeRaft(this.#state)) this.#state = { ...this.#state, term: 1 };
    await this.#reopen();
    this.#drive();
  }

  async #resume(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    const fault = appliedFault(opened.boot, this.#state) ?? this.#hopeless(opened);
    if (fault !== undefined) {
      if (opened.verdict.kind === 'clean') this.#store.poison(fault);
      this.#fail(fault);
      return;
    }
    await this.#rename(opened);
    this.#drive();
  }

  async #rename({ boot, identity }: OpenedLog): Promise<void> {
    const { nodeId } = this.#parts.options;
    if (nodeId === identity.nodeId) return;
    const renamed = renamedConfig(boot, memberId(identity), memberOf({ ...this.#greeting(), nodeId }));
    if (renamed === undefined) {
      this.#parts.host.notice(`the settings call this node ${nodeId}, its cluster knows it as ${identity.nodeId}`);
      return;
    }
    await this.#store.rename(nodeId, renamed);
    await this.#reopen();
  }

  /** A suspect waits for a leader to settle the matter; the only voter would wait for itself. */
  #hopeless({ boot, verdict, identity }: OpenedLog): string | undefined {
    const voters = latestConfig(boot)?.voters ?? [];
    if (verdict.kind !== 'suspect' || voters.length !== 1 || voters[0] !== memberId(identity)) return undefined;
    return `the only voter may have lost its last writes (${verdict.reason}); remove raft/SUSPECT to accept that`;
  }

  #drive(): void {
    const { host, clock, random, settings } = this.#parts;
    const opened = this.#opened;
    if (opened?.identity.clusterId === undefined || this.#isFinished) return;
    const driver = new RaftDriver(
      {
        settings: { ...defaultDriverSettings, ...settings, clusterId: opened.identity.clusterId, id: ownId(opened) },
        store: this.#store,
        checkpoints: this.#checkpoints,
        transport: this.#network?.transport ?? silentTransport,
        clock,
        host: this.#hostOf(host),
        rng: seededRng(drawNumber(random) % 2 ** 32),
      },
      opened,
      this.#state.index,
    );
    this.#driver = driver;
    driver.start();
    this.#network?.lookAround();
    this.#caretaker = this.#takeCare(driver);
    if (opened.boot.checkpoint?.file === '') host.makeCheckpoint();
  }

  #hostOf(host: MemberHost): Host {
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
      fatal: (reason) => this.#fail(reason),
    };
  }

  #takeCare(driver: RaftDriver): Caretaker {
    const { clock, options, host } = this.#parts;
    return new Caretaker({
      clock,
      policy: { autoJoin: options.cluster?.autoJoin ?? 'none' },
      leads: () => (driver.inspect().role === 'leader' ? driver.inspect().config : undefined),
      met: () => (this.#network === undefined ? [] : [this.#greeting(), ...this.#network.transport.met()]),
      change: (change) => driver.change(ownChange, change),
      isSuspect: () => driver.inspect().suspect,
      trust: () => this.#store.trust(),
      measure: () => measureSpace(options.directory),
      notice: (text) => host.notice(text),
    });
  }

  propose(id: number, payload: Uint8Array): void {
    if (this.#caretaker?.space === 'full') this.#refuse(id, 'disk full');
    else if (this.#driver === undefined) this.#refuse(id, 'not leader');
    else this.#driver.propose(id, payload);
  }

  change(id: number, change: MembershipChange, options?: { readonly force?: boolean }): void {
    if (this.#driver === undefined) this.#refuse(id, 'not leader');
    else this.#driver.change(id, change, options);
  }

  read(id: number): void {
    if (this.#driver === undefined) this.#parts.host.readable(id, undefined);
    else this.#driver.read(id);
  }

  applied(index: Index): void {
    this.#driver?.applied(index);
  }

  /** The file is read once more before the log relies on it (raft.md P10). */
  checkpointWritten(image: CheckpointImage): void {
    verifyCheckpoint(join(this.#checkpointDirectory, image.file), image).then(
      () => this.#driver?.checkpointWritten(image),
      (error: unknown) => {
        this.#parts.host.notice(`checkpoint at ${image.index}: ${String(error)}`);
        this.#driver?.checkpointFailed();
      },
    );
  }

  checkpointFailed(): void {
    this.#driver?.checkpointFailed();
  }

  installed(generation: number, index: Index): void {
    this.#driver?.installed(generation, index);
  }

  installFailed(index: Index): void {
    this.#driver?.installFailed(index);
  }

  transfer(to: MemberId | undefined): void {
    this.#driver?.transfer(to);
  }

  alive(): void {
    this.#driver?.alive();
  }

  /** Undefined until this node belongs to a cluster. */
  status(): MemberStatus | undefined {
    return this.#driver && statusOf(this.#driver.inspect(), this.#network?.transport.counts);
  }

  /** Hands leadership over, closes everything and leaves the mark of a clean stop. Calls `done` in any case. */
  stop(done: () => void): void {
    const clean = !this.#isFinished;
    this.#isFinished = true;
    this.#caretaker?.close();
    const close = () => {
      this.#network?.close();
      const closed = this.#checkpoints.close().then(() => this.#store.close({ clean }));
      closed.catch((error: unknown) => this.#parts.host.notice(`stop: ${String(error)}`)).finally(done);
    };
    if (this.#driver === undefined || this.#driver.isDead) close();
    else this.#driver.stop(close);
  }

  #refuse(id: number, why: 'not leader' | 'disk full'): void {
    const outcome: Outcome = { kind: 'notApplied', why };
    this.#parts.host.outcome(id, outcome);
  }

  #newStore(): LevelLogStore {
    const { options, clock, random } = this.#parts;
    const { directory, nodeId } = options;
    return new LevelLogStore({ directory, nodeId, incarnation: () => drawNumber(random), nowMs: () => clock.nowMs() });
  }

  async #openLog(): Promise<OpenedLog | undefined> {
    const opened = await this.#store.open();
    if (opened.verdict.kind === 'poisoned') {
      this.#fail(opened.verdict.reason);
      return undefined;
    }
    this.#opened = opened;
    return opened;
  }

  /** After the log was rewritten: it is read again rather than patched in memory. Once or twice in a node's life. */
  async #reopen(): Promise<void> {
    await this.#store.close({ clean: false });
    this.#store = this.#newStore();
    await this.#openLog();
  }

  #soleConfig(): Config {
    return configOf([this.#greeting()]);
  }

  #greeting() {
    const { options } = this.#parts;
    const { identity, boots, boot } = this.#opened ?? unopened;
    const log = this.#driver?.inspect().log;
    return {
      clusterId: identity.clusterId,
      nodeId: identity.nodeId,
      incarnation: identity.incarnation,
      boots,
      run: this.#run,
      address: options.cluster?.advertiseAddress ?? '',
      clientAddress: options.clientAddress,
      lastIndex: log?.lastIndex ?? boot.base.index + boot.entries.length,
      lastTerm: log?.term(log.lastIndex) ?? boot.entries.at(-1)?.term ?? boot.base.term,
      expects: this.#network?.expects ?? [],
      keyFingerprint: options.keyFingerprint,
      capabilities: 0,
    };
  }

  /** The way out for every failure that is not the driver's: the same `fatal`, once. */
  #attempt(run: () => Promise<void>): void {
    run().catch((error: unknown) => this.#fail(error instanceof Error ? error.message : String(error)));
  }

  #fail(reason: string): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#caretaker?.close();
    this.#network?.close();
    this.#parts.host.fatal(reason);
  }
}

const unopened: Pick<OpenedLog, 'identity' | 'boots' | 'boot'> = {
  identity: { nodeId: '', incarnation: 0, clusterId: undefined },
  boots: 0,
  boot: {
    hardState: { term: 0, vote: undefined, commit: 0 },
    base: { index: 0, term: 0 },
    entries: [],
    checkpoint: undefined,
    suspect: false,
  },
};

function isBeforeRaft({ index, term }: LogPosition): boolean {
  return index > 0 && term === 0;
}
