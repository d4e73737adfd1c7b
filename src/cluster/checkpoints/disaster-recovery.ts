// Disaster recovery, run by an operator while no node runs: a node from a backup, and a cluster from what one node
// still has (raft.md A20). Both end as a state that has left its log; the next start makes a new cluster of one out of
// it.
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../../../disk/directory.ts';
import { ifPresent, renameDurably } from '../../../disk/durable-file.ts';
import { type Entry, readLogRemains } from '../../../raft/index.ts';
import type { ControlPlaneSettings } from '../../settings/control-plane-settings.ts';
import { DurableState } from '../../state/durable-state.ts';
import { Cipher } from '../../state/encryption.ts';
import { generationDirectory, LevelStore } from '../../state/level-store.ts';
import { StoreInUse } from '../../state/store.ts';
import { raftOptions } from '../log/raft-options.ts';
import { readBackup, slicesOf } from './backup.ts';
import { generationsIn, removeOtherGenerations } from './generation-directories.ts';
import { filledStore } from './rebuilt-store.ts';

/** Indexes go on this far above: clients and proxies that saw later ones never meet the same number twice. */
const indexBump = 1_000_000;

/** Fills the empty store of the settings from a backup file. Resolves with a line for people. */
export async function restore(settings: ControlPlaneSettings, file: string): Promise<string> {
  const storePath = resolve(settings.storePath);
  await refuseFull(storePath);
  const { head, content } = readBackup(await readFile(file));
  const cipher = settings.encryptionKey && new Cipher(settings.encryptionKey, randomBytes);
  if (cipher?.fingerprint !== head.keyFingerprint) {
    throw new Error('controlPlane.encryption.key is not the key that the backup was made with');
  }
  const filled = filledStore(generationDirectory(storePath, 1), slicesOf(content), cipher);
  const left = filled.then((store) => leaveLog(store, settings));
  const last = await left.catch(async (error: unknown) => {
    // The part that a full disk took would be in the way of the next attempt.
    if (!(error instanceof StoreInUse)) await rm(join(storePath, 'state'), { recursive: true, force: true });
    throw error;
  });
  return (
    `restored ${head.createdAt}, index ${head.index} of cluster ${head.clusterId}, as index ${last}; ` +
    'start this node alone, then let empty ones join'
  );
}

/**
 * Makes what this node has the beginning of a new cluster: its state, and what its log holds beyond it, for the state
 * follows the log. The former log is kept beside. Where it was stopped half-way it is run again.
 */
export async function forceNewCluster(settings: ControlPlaneSettings): Promise<string> {
  const storePath = resolve(settings.storePath);
  const { directory, nodeId } = raftOptions(settings, storePath);
  const hasLog = await exists(directory);
  const log = hasLog ? await readLogRemains({ directory, nodeId }) : undefined;
  // One that belongs to no cluster was made after the state: it knows nothing of it.
  const ledBy = log?.clusterId === undefined ? undefined : log;
  const generation = ledBy?.generation ?? (await onlyGeneration(storePath));
  const store = await LevelStore.open(generationDirectory(storePath, generation));
  const last = await leaveLog(store, settings, ledBy?.entriesAfter);
  // What a crash left of others would be in the way of the new name. Of this one it is known now that it can be read.
  await removeOtherGenerations(storePath, generation, false);
  const aside = `${directory}.before-${last}`;
  if (hasLog) await renameDurably(directory, aside);
  if (generation !== firstGeneration) await renameGeneration(storePath, generation);
  const former = hasLog ? `The former log is in ${aside}` : 'There was no log beside it, which may have held more';
  return (
    `the state up to index ${last - indexBump} begins a new cluster at index ${last}; what was agreed on after it is lost. ` +
    `${former}. Start this node alone, then let empty ones join`
  );
}

/**
 * Returns the single generation. Without a log that names the one that counts, a second one leaves the state of this
 * node unknown.
 */
async function onlyGeneration(storePath: string): Promise<number> {
  const [first, ...others] = await generationsIn(storePath);
  if (first === undefined) throw new Error(`there is nothing of a node in controlPlane.storePath ${storePath}`);
  if (others.length > 0) {
    throw new Error(`the log that says which state in ${join(storePath, 'state')} counts is gone; restore a backup`);
  }
  return first;
}

const exists = async (path: string): Promise<boolean> => (await ifPresent(stat(path))) !== undefined;

/** Entries of a log that are applied at a time. */
const entriesPerRound = 256;

async function leaveLog(
  store: LevelStore,
  { encryptionKey }: ControlPlaneSettings,
  entriesAfter: (applied: number) => readonly Entry[] = () => [],
): Promise<number> {
  const state = await DurableState.open(store, { encryptionKey, randomBytes });
  try {
    const entries = entriesAfter(state.view.applied);
    for (let from = 0; from < entries.length; from += entriesPerRound) {
      await applyRound(state, entries.slice(from, from + entriesPerRound));
    }
    // A node that waits for its cluster, or a path that no node ever used.
    if (state.view.applied === 0) throw new Error(`nothing was ever agreed on in ${store.place}`);
    const last = state.view.applied + indexBump;
    await state.leaveLog(last);
    return last;
  } finally {
    await state.close();
  }
}

async function applyRound(state: DurableState, entries: readonly Entry[]): Promise<void> {
  const end = entries.at(-1);
  if (end === undefined) return;
  const commands = entries.filter((entry) => entry.kind === 'command');
  await state.apply(commands, end.index, { term: end.term, time: end.time });
}

async function refuseFull(storePath: string): Promise<void> {
  await makeDirectory(storePath);
  const found = (await readdir(storePath)).filter((name) => name === 'state' || name === 'raft');
  if (found.length > 0) throw new Error(`${join(storePath, found[0] ?? '')} exists: restore into an empty store`);
}

/** A log that is made anew counts on this one. */
const firstGeneration = 1;

async function renameGeneration(storePath: string, generation: number): Promise<void> {
  await renameDurably(generationDirectory(storePath, generation), generationDirectory(storePath, firstGeneration));
}
