// The order of a start (raft.md A18): the lock, the scan, the verdict, and what the next start must know of it.
import { access } from 'node:fs/promises';
import { join } from 'node:path';

import { makePrivateDirectory } from '../../disk/directory.ts';
import { mayPass } from '../../disk/durable-file.ts';
import { isLocked } from './directory-lock.ts';
import type { LogVerdict } from './log-store.ts';
import { judge } from './log-verdict.ts';
import { type Testimony, Witness } from './log-witness.ts';
import { readMarker, setMarker } from './markers.ts';
import type { Scan } from './recovery.ts';

interface Log {
  /** Rejects with `cause.code` LEVEL_LOCKED when another process has the directory. */
  readonly lock: () => Promise<void>;
  readonly scan: () => Promise<Scan>;
}

/**
 * Rejects when `lock` or `scan` does. The directory is marked as poisoned first where what the log holds is the reason: not
 * where another process holds it, nor where the system did not let it be read, for that may pass.
 */
export async function startUp(
  directory: string,
  log: Log,
): Promise<{ readonly scan: Scan; readonly verdict: LogVerdict }> {
  await makePrivateDirectory(directory);
  await lockDirectory(directory, log);
  await refuseLevelDb(directory);
  const testimony = await Witness.read(directory);
  const scan = await readLog(directory, log);
  return { scan, verdict: await reachVerdict(directory, scan, testimony) };
}

async function lockDirectory(directory: string, { lock }: Log): Promise<void> {
  try {
    await lock();
  } catch (error) {
    if (isLocked(error)) throw new Error(`${directory} is in use by another process`, { cause: error });
    throw error;
  }
}

/** Refuses the LevelDB that logs lay in before any release: to begin anew beside it would lose what was acknowledged. */
async function refuseLevelDb(directory: string): Promise<void> {
  if ((await exists(join(directory, 'journal'))) || !(await exists(join(directory, 'log', 'CURRENT')))) return;
  throw new Error(`${directory} holds a log of a state before the first release, which this program does not read`);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function readLog(directory: string, { scan }: Log): Promise<Scan> {
  try {
    return await scan();
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    if (!mayPass(failure)) await setMarker(directory, 'POISON', `unreadable log: ${failure.message}`);
    throw failure;
  }
}

async function reachVerdict(directory: string, scan: Scan, testimony: Testimony): Promise<LogVerdict> {
  const verdict = judge({
    empty: scan.empty,
    problems: scan.problems,
    complaints: scan.complaints,
    testimony,
    persistSeq: scan.contents?.state.persistSeq ?? 0,
    stoppedCleanly: scan.contents?.stoppedCleanly ?? false,
    poison: await readMarker(directory, 'POISON'),
    suspicion: await readMarker(directory, 'SUSPECT'),
  });
  if (verdict.kind === 'poisoned') await setMarker(directory, 'POISON', verdict.reason);
  if (verdict.kind === 'suspect') await setMarker(directory, 'SUSPECT', verdict.reason);
  return verdict;
}
