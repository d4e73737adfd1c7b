// What was agreed on and how more is agreed on: the log in its thread, the state on disk, and the line between them. It
// knows nothing of the API, so it opens while the frameworks are still being loaded.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkpointDirectory, type Notices } from '../../raft/index.ts';
import { systemClock } from '../clock.ts';
import type { ControlPlaneSettings } from '../settings/control-plane.ts';
import { listenFailure, storeFailure } from '../start-failure.ts';
import { DurableState } from '../state/durable-state.ts';
import { generationDirectory, LevelStore } from '../state/level-store.ts';
import type { OpenOptions } from '../state/opening.ts';
import { writeBehindMs } from '../state/round-writer.ts';
import type { LevelCell } from '../telemetry/log-levels.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { WorkTraces } from '../telemetry/traces/work-traces.ts';
import { checkpointFilesIn, generationStores, removeOtherGenerations } from './checkpoints/generation-directories.ts';
import { Generations } from './checkpoints/generations.ts';
import { Proposer } from './log/proposer.ts';
import { CannotListen, RaftLog, type StateAtStart } from './log/raft-log.ts';
import { raftOptions } from './log/raft-options.ts';
import { raftMetrics } from './members/raft-metrics.ts';
import { NodeLinks } from './node-links.ts';
import { measuredRelay } from './relay/measured-relay.ts';

export interface Core {
  readonly raft: RaftLog;
  readonly state: DurableState;
  readonly log: Proposer;
  readonly links: NodeLinks;
  readonly metrics: Metrics;
  close(): Promise<void>;
}

export interface CoreOptions {
  /** Undefined: nothing is traced. */
  readonly traces?: WorkTraces | undefined;
  readonly settings: ControlPlaneSettings;
  readonly logger: Logger;
  /** Of that logger: the thread of the log looks at it. Default: nothing but what is worth a line. */
  readonly level?: LevelCell | undefined;
}

/** Rejects with a sentence for people, nothing left open. When it resolves this node votes and follows. */
export async function openCore({ traces, settings, logger, level }: CoreOptions): Promise<Core> {
  const storePath = resolve(settings.storePath);
  const options = { ...raftOptions(settings, storePath), details: level?.bytes };
  const notices: Notices = {
    notice: (text) => logger.info({}, `cluster: ${text}`),
    warning: (text) => logger.warn({}, `cluster: ${text}`),
  };
  const cannotOpen = (error: unknown): never => {
    if (error instanceof CannotListen && settings.raft !== undefined) {
      throw listenFailure('raft', 'controlPlane.raft.bindAddress', settings.raft.bindAddress, error);
    }
    throw storeFailure(storePath, error);
  };
  const detail = (text: string): void => logger.debug({}, `cluster: ${text}`);
  const openLog = (): Promise<RaftLog> => RaftLog.open({ raft: options, notices, detail }).catch(cannotOpen);
  let raft = await openLog();
  let isDropped = false;
  try {
    await removeOtherGenerations(storePath, raft.generation, raft.clusterId === undefined);
    const openOptions: OpenOptions = { encryptionKey: settings.encryptionKey, randomBytes };
    const beforeEncryption = async (applied: number): Promise<void> => {
      refuseToDrop(raft, applied);
      await raft.stop();
      await rm(options.directory, { recursive: true, force: true });
      isDropped = true;
      raft = await openLog();
    };
    const store = await LevelStore.open(generationDirectory(storePath, raft.generation)).catch(cannotOpen);
    const behind = { clock: systemClock, delayMs: writeBehindMs };
    const state = await DurableState.open(store, { ...openOptions, beforeEncryption, behind });
    for (const warning of state.warnings) logger.warn({}, `store: ${warning}`);
    const generations = new Generations({
      stores: generationStores(storePath),
      checkpoints: checkpointFilesIn(checkpointDirectory(options)),
      generation: raft.generation,
      node: raft.node,
      state,
      openOptions,
      notices,
    });
    const opened = raft;
    const links = new NodeLinks({ settings, clusterId: () => opened.clusterId, clock: systemClock, traces });
    const metrics = new Metrics();
    metrics.include(async () =>
      raftMetrics({ status: await opened.status(), failed: opened.failed, nowMs: systemClock.nowMs() }),
    );
    const log = new Proposer({
      port: raft,
      state,
      clock: systemClock,
      nodeId: options.nodeId,
      relay: measuredRelay(links.relay, metrics, systemClock),
      adopt: (generation) => generations.adopt(generation),
      observer: metrics,
      traces,
    });
    refuseHalfLeft(raft, state);
    const atStart: StateAtStart = { applied: state.view.applied, term: state.entry?.term ?? 0 };
    const loss = isDropped ? undefined : lossOfLog(raft, atStart);
    raft.begin(atStart, generations);
    if (loss !== undefined) logger.warn({}, `cluster: ${loss}`);
    return { raft, state, log, links, metrics, close: () => close({ raft, state, log, links }) };
  } catch (error) {
    await raft.stop();
    throw error;
  }
}

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
 * A node of one is let on without its log, for its state holds all that it acknowledged before it was stopped. What came
 * in the last moments before a crash is gone with the log, and what other members of a cluster it may have belonged to
 * have since, nobody can know here. (In a cluster `begin` refuses.)
 */
function lossOfLog({ clusterId }: RaftLog, { applied, term }: StateAtStart): string | undefined {
  if (clusterId !== undefined || term === 0) return undefined;
  const what = `the log of this state, which ends at index ${applied} of term ${term}, is gone`;
  return `${what}; a new log begins behind it, of a cluster with another id that this node founds alone`;
}

/** What is under way is answered, leadership is handed over, and then the log ends before the state does. */
async function close({ raft, state, log, links }: Omit<Core, 'close' | 'metrics'>): Promise<void> {
  await log.stop();
  await links.close();
  await raft.stop();
  await state.close();
}
