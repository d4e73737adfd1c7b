// Core: the agreed state and the way to agree on more, that is the log in its thread, the state on disk, and the line
// between them. It knows nothing of the API, so it opens while the frameworks are still being loaded.
import { randomBytes } from 'node:crypto';
import { rm, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type DiskProblem, isLate } from '../../disk/disk-problem.ts';
import { mayPass } from '../../disk/durable-file.ts';
import { probeWrite, standsStill } from '../../disk/stalled-disk.ts';
import { checkpointDirectory, type Notices, type RaftOptions, readLogAsItIs } from '../../raft/index.ts';
import type { ControlPlaneSettings } from '../settings/control-plane-settings.ts';
import { listenFailure, storeFailure, takesNoWrite } from '../start-failure.ts';
import { DurableState } from '../state/durable-state.ts';
import { generationDirectory, LevelStore } from '../state/level-store.ts';
import { type OpenOptions, openState } from '../state/open-state.ts';
import { ReadOnlyStore } from '../state/read-only-store.ts';
import { writeBehindMs } from '../state/round-writer.ts';
import { StoreDamaged } from '../state/store.ts';
import type { LevelCell } from '../telemetry/log-levels.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { WorkTraces } from '../telemetry/traces/work-traces.ts';
import { systemClock } from '../util/clock.ts';
import { checkpointFilesIn, generationStores, removeOtherGenerations } from './checkpoints/generation-directories.ts';
import { Generations } from './checkpoints/generations.ts';
import { holdsAll, rebuildState } from './checkpoints/rebuilt-store.ts';
import { Proposer } from './log/proposer.ts';
import { raftOptions } from './log/raft-options.ts';
import { CannotListen, RaftLog, type RaftLogOptions, type StateAtStart } from './log/raft-replicated-log.ts';
import { ClusterWatch } from './members/cluster-watch.ts';
import { raftMetrics } from './members/raft-metrics.ts';
import { NodeLinks } from './node-links.ts';
import { measuredRelay } from './relay/instrumented-relay.ts';

export interface Core {
  readonly raft: RaftLog;
  readonly state: DurableState;
  readonly log: Proposer;
  readonly links: NodeLinks;
  readonly metrics: Metrics;
  /** Place of this node in its cluster: who leads, and whether it was removed. */
  readonly watch: ClusterWatch;
  close(): Promise<void>;
}

export interface CoreOptions {
  /** Undefined: nothing is traced. */
  readonly traces?: WorkTraces | undefined;
  readonly settings: ControlPlaneSettings;
  readonly logger: Logger;
  /** Level of that logger, read by the thread of the log. Default: details off. */
  readonly level?: LevelCell | undefined;
}

/**
 * Rejects with a sentence for people, nothing left open. When it resolves this node votes and follows, or shows what it has
 * until the disk takes writes again.
 */
export async function openCore(options: CoreOptions): Promise<Core> {
  const opening = new CoreOpening(options);
  try {
    return await opening.openUnlessStalled();
  } catch (error) {
    if (!takesNoWrite(error) || options.settings.onStorageFailure !== 'serve') throw error;
    // A disk that cannot be read either shows nothing: the first failure says why.
    const core = await opening.openReadOnly(error).catch(() => undefined);
    if (core === undefined) throw error;
    return core;
  }
}

/** Interval of attempts to write to the disk again. */
const retryMs = 2_000;
/** With less room a start would take it all and fail. */
const roomBytes = 1024 * 1024;

class CoreOpening {
  readonly #options: CoreOptions;
  readonly #storePath: string;
  readonly #raftOptions: RaftOptions;
  readonly #notices: Notices;
  readonly #openOptions: OpenOptions;
  #isDropped = false;
  #isClosed = false;
  /** Reason of the last attempt, which is logged once. */
  #whyClosed: string | undefined;
  /** The disk stands still: the first attempt is given up as soon as it can be. */
  #isAbandoned = false;
  /** Attempt that was given up; never rejects. */
  #abandoned: Promise<unknown> = Promise.resolve();

  constructor(options: CoreOptions) {
    const { settings, logger, level } = options;
    this.#options = options;
    this.#storePath = resolve(settings.storePath);
    this.#raftOptions = { ...raftOptions(settings, this.#storePath), details: level?.bytes };
    this.#notices = {
      notice: (text) => logger.info({}, `cluster: ${text}`),
      warning: (text) => logger.warn({}, `cluster: ${text}`),
    };
    this.#openOptions = { encryptionKey: settings.encryptionKey, randomBytes };
  }

  /** Opens, or shows what there is where the disk stands still meanwhile. */
  async openUnlessStalled(): Promise<Core> {
    const { settings, logger } = this.#options;
    const opened = this.open();
    if (!(await standsStill(opened, () => probeWrite(this.#storePath)))) return await opened;
    const stalled = new Error(isLate(this.#storePath).reason);
    logger.error({ reason: stalled.message }, 'the store cannot be opened while its disk stands still');
    if (settings.onStorageFailure !== 'serve') return await opened;
    this.#isAbandoned = true;
    this.#abandoned = opened.catch(() => undefined);
    const core = await this.openReadOnly(stalled).catch(() => undefined);
    if (core !== undefined) return core;
    this.#isAbandoned = false;
    return await opened.catch(() => this.open());
  }

  async open(): Promise<Core> {
    let raft = await RaftLog.open(this.#logOptions).catch(this.#cannotOpen);
    const beforeEncryption = async (applied: number): Promise<void> => {
      refuseToDrop(raft, applied);
      await raft.stop();
      await rm(this.#raftOptions.directory, { recursive: true, force: true });
      this.#isDropped = true;
      raft = await RaftLog.open(this.#logOptions).catch(this.#cannotOpen);
    };
    try {
      const state = await this.#stateOf(raft, beforeEncryption);
      if (this.#isAbandoned) {
        await state.close();
        throw new Error('the disk stood still');
      }
      this.#warn(state.warnings);
      const { core, generations } = this.#assemble(raft, state);
      this.#begin(raft, state, generations);
      return core;
    } catch (error) {
      await raft.stop();
      throw error;
    }
  }

  /**
   * Contents of log and store where nothing can be written: traffic and stale reads go on with it, and the rest begins once the
   * disk takes writes. Undefined where there is nothing to show.
   */
  async openReadOnly(failure: unknown): Promise<Core | undefined> {
    const { logger } = this.#options;
    const asItIs = await readLogAsItIs(this.#raftOptions.directory).catch(() => undefined);
    if (asItIs === undefined) return undefined;
    const store = await ReadOnlyStore.read(generationDirectory(this.#storePath, asItIs.generation));
    const behind = { clock: systemClock, delayMs: writeBehindMs };
    const state = await DurableState.open(store, { ...this.#openOptions, readOnly: true, behind });
    const words = failure instanceof Error ? failure.message : String(failure);
    const problem: DiskProblem = { kind: 'rejected', reason: `${words}; tried again every ${retryMs / 1_000} s` };
    const raft = RaftLog.absent(this.#logOptions, asItIs, problem);
    const { core, generations } = this.#assemble(raft, state);
    logger.error(
      { reason: problem.reason },
      'the store is read-only: traffic goes on, writes are refused until the disk takes them',
    );
    systemClock.after(retryMs, () => this.#retry(raft, state, generations));
    return core;
  }

  /** Opens log and store for good once they can be. */
  #retry(raft: RaftLog, state: DurableState, generations: Generations): void {
    if (this.#isClosed) return;
    this.#openAnew(raft, state, generations).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (!takesNoWrite(error) && reason !== this.#whyClosed)
        this.#options.logger.warn({ err: error }, 'the store cannot be opened yet');
      this.#whyClosed = reason;
      systemClock.after(retryMs, () => this.#retry(raft, state, generations));
    });
  }

  async #openAnew(raft: RaftLog, state: DurableState, generations: Generations): Promise<void> {
    await this.#abandoned;
    const { bavail, bsize } = await statfs(this.#storePath);
    if (bavail * bsize < roomBytes) throw new Error(`no space left: ${bavail * bsize} bytes`);
    await raft.open();
    try {
      const store = await this.#storeOf(raft);
      const opened = await openState(store, this.#openOptions).catch(async (error: unknown) => {
        await store.close();
        throw error;
      });
      this.#warn(opened.warnings);
      await state.adopt({ store, opened, applied: opened.state.applied });
      this.#begin(raft, state, generations);
    } catch (error) {
      await raft.close();
      throw error;
    }
    raft.tell(undefined);
  }

  /** State of the log's generation, built anew from the log where its store is damaged or behind the beginning of the log. */
  async #stateOf(raft: RaftLog, beforeEncryption: OpenOptions['beforeEncryption']): Promise<DurableState> {
    const options = { ...this.#openOptions, behind: { clock: systemClock, delayMs: writeBehindMs } };
    const { beginning } = raft;
    const directory = generationDirectory(this.#storePath, raft.generation);
    try {
      const store = await this.#storeOf(raft);
      const state = await DurableState.open(store, { ...options, beforeEncryption });
      if (beginning === undefined || state.view.applied >= beginning.base) return state;
      await state.close();
      throw new StoreDamaged(
        directory,
        `it ends at index ${state.view.applied}, the log begins behind ${beginning.base}`,
      );
    } catch (error) {
      if (!isDamage(error) || this.#isDropped || beginning === undefined || !holdsAll(beginning)) throw error;
      this.#notices.warning(`the state is built anew from the log and its checkpoint: ${error.message}`);
      const checkpoints = checkpointFilesIn(checkpointDirectory(this.#raftOptions));
      return await rebuildState(beginning, { directory, checkpoints, options });
    }
  }

  async #storeOf(raft: RaftLog): Promise<LevelStore> {
    await removeOtherGenerations(this.#storePath, raft.generation, raft.clusterId === undefined);
    return await LevelStore.open(generationDirectory(this.#storePath, raft.generation)).catch(this.#cannotOpen);
  }

  #assemble(raft: RaftLog, state: DurableState): { readonly core: Core; readonly generations: Generations } {
    const { settings, traces } = this.#options;
    const generations = new Generations({
      stores: generationStores(this.#storePath),
      checkpoints: checkpointFilesIn(checkpointDirectory(this.#raftOptions)),
      generation: raft.generation,
      node: raft.node,
      state,
      openOptions: this.#openOptions,
      notices: this.#notices,
    });
    const links = new NodeLinks({ settings, clusterId: () => raft.clusterId, clock: systemClock, traces });
    const metrics = new Metrics();
    metrics.include(async () =>
      raftMetrics({ status: await raft.status(), failed: raft.failed, nowMs: systemClock.nowMs() }),
    );
    const watch = new ClusterWatch({ cluster: raft, clock: systemClock, logger: this.#options.logger });
    state.onWaits((problem) => raft.node.stateWaits(problem !== undefined));
    raft.onRole((report) => watch.heard(report));
    raft.onRemoved((reason) => watch.removed(reason));
    const log = new Proposer({
      port: raft,
      state,
      clock: systemClock,
      nodeId: this.#raftOptions.nodeId,
      relay: measuredRelay(links.relay, metrics, systemClock),
      adopt: (generation) => generations.adopt(generation),
      observer: metrics,
      traces,
      why: () => watch.why,
    });
    const end = (): Promise<void> => {
      this.#isClosed = true;
      watch.close();
      return close({ raft, state, log, links });
    };
    return { generations, core: { raft, state, log, links, metrics, watch, close: end } };
  }

  #begin(raft: RaftLog, state: DurableState, generations: Generations): void {
    refuseHalfLeft(raft, state);
    const atStart: StateAtStart = { applied: state.view.applied, term: state.entry?.term ?? 0 };
    const loss = this.#isDropped ? undefined : lossOfLog(raft, atStart);
    raft.begin(atStart, generations);
    if (loss !== undefined) this.#notices.warning(loss);
  }

  get #logOptions(): RaftLogOptions {
    const { logger } = this.#options;
    return {
      raft: this.#raftOptions,
      notices: this.#notices,
      detail: (text) => logger.debug({}, `cluster: ${text}`),
    };
  }

  readonly #cannotOpen = (error: unknown): never => {
    const { raft } = this.#options.settings;
    if (error instanceof CannotListen && raft !== undefined) {
      throw listenFailure('raft', 'controlPlane.raft.bindAddress', raft.bindAddress, error);
    }
    throw storeFailure(this.#storePath, error);
  };

  #warn(warnings: readonly string[]): void {
    for (const warning of warnings) this.#options.logger.warn({}, `store: ${warning}`);
  }
}

/** Files that are missing are an error of LevelDB's like one that may pass. */
const isDamage = (error: unknown): error is StoreDamaged =>
  error instanceof StoreDamaged && (!mayPass(error) || /no such file/i.test(error.message));

/** A new log counts on this one. */
const firstGeneration = 1;

/** Commands lie in the log in plain text, so turning encryption on begins a new log behind the state. */
function refuseToDrop({ clustered, clusterId, generation, lastIndex }: RaftLog, applied: number): void {
  const first = 'start once more without controlPlane.encryption.key and stop it, then set the key';
  if (lastIndex > applied) throw new Error(`the log holds entries that the store does not have yet: ${first}`);
  if ((clustered && clusterId !== undefined) || generation !== firstGeneration) {
    throw new Error('encryption cannot be turned on for a node of a cluster; make a new cluster with the key');
  }
}

/**
 * `force-new-cluster` takes the state out of its log first and puts the log aside then. Stopped in between it has to be
 * run again; to the log this would be a state that holds more than was ever agreed on, and this node be lost for good.
 */
function refuseHalfLeft({ clusterId, lastIndex }: RaftLog, { view, entry }: DurableState): void {
  if (clusterId === undefined || entry !== undefined || view.applied <= lastIndex) return;
  throw new Error('sluice force-new-cluster was stopped before it was done; run it again');
}

/**
 * Returns the warning for a node of one that goes on without its log: its state holds all that it acknowledged before
 * it was stopped. Writes of the last moments before a crash are gone with the log, and the writes of a cluster that it
 * may have belonged to cannot be known here. (In a cluster `begin` refuses.)
 */
function lossOfLog({ clusterId }: RaftLog, { applied, term }: StateAtStart): string | undefined {
  if (clusterId !== undefined || term === 0) return undefined;
  const what = `the log of this state, which ends at index ${applied} of term ${term}, is gone`;
  return `${what}; a new log begins behind it, of a cluster with another id that this node founds alone`;
}

/**
 * Closes the core: requests under way are answered, leadership is handed over, and then the log ends before the state
 * does.
 */
async function close({ raft, state, log, links }: Omit<Core, 'close' | 'metrics' | 'watch'>): Promise<void> {
  await log.stop();
  await links.close();
  await raft.stop();
  await state.close();
}
