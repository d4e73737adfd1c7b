// The order of a start (raft.md A18): old complaints before a new open replaces them, the scan, the verdict, and what the
// next start must know of it.
import { access } from 'node:fs/promises';
import { join } from 'node:path';

import { makePrivateDirectory } from '../../disk/directory.ts';
import { mayPass } from '../../disk/durable-file.ts';
import { readComplaints } from './leveldb-complaints.ts';
import type { LogVerdict } from './log-store.ts';
import { judge } from './log-verdict.ts';
import { type Testimony, Witness } from './log-witness.ts';
import { clearMarker, readMarker, setMarker } from './markers.ts';
import type { Scan } from './recovery.ts';

/**
 * Rejects when `scanLog` does. The directory is marked as poisoned first where what it holds is the reason: not where another
 * process holds it, nor where the system did not let it be read, for that may pass.
 */
export async function startUp(
  directory: string,
  scanLog: () => Promise<Scan>,
): Promise<{ readonly scan: Scan; readonly verdict: LogVerdict }> {
  await makePrivateDirectory(directory);
  const isOfLevelDb = !(await hasJournal(directory));
  if (isOfLevelDb) {
    await keepOldComplaints(directory);
    await setMarker(directory, 'OPENING', 'no verdict was reached');
  }
  const testimony = await Witness.read(directory);
  const scan = await readLog(directory, scanLog);
  const verdict = await reachVerdict(directory, scan, testimony);
  if (isOfLevelDb || (await readMarker(directory, 'OPENING')) !== undefined) await clearMarker(directory, 'OPENING');
  return { scan, verdict };
}

/**
 * Keeps complaints of LevelDB about a former log: an open that died before its verdict may have been the only one to
 * report lost bytes, and the next LOG does not repeat them.
 */
async function keepOldComplaints(directory: string): Promise<void> {
  if ((await readMarker(directory, 'OPENING')) === undefined) return;
  const [complaint] = await readComplaints(join(directory, 'log'));
  if (complaint !== undefined) await setMarker(directory, 'SUSPECT', complaint);
}

const hasJournal = (directory: string): Promise<boolean> =>
  access(join(directory, 'journal')).then(
    () => true,
    () => false,
  );

async function readLog(directory: string, scanLog: () => Promise<Scan>): Promise<Scan> {
  try {
    return await scanLog();
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    if (isLocked(failure)) throw new Error(`${directory} is in use by another process`, { cause: failure });
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

function isLocked({ cause }: Error): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED';
}
