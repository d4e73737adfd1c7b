// Read-only log of a node: read and judged as at a start; nothing is made or changed.
import { join } from 'node:path';
import { Journal } from './journal/journal.ts';
import { readMarker } from './markers.ts';
import { scanLog } from './recovery.ts';

export interface LogAsItIs {
  readonly clusterId: string | undefined;
  /** Generation of the program's state that counts. */
  readonly generation: number;
  /** Index of the last entry; 0 for an empty log. */
  readonly lastIndex: number;
}

/** Undefined where there is no log, or none that may be relied on. `directory` is that of `RaftOptions`. */
export async function readLogAsItIs(directory: string): Promise<LogAsItIs | undefined> {
  if ((await readMarker(directory, 'POISON')) !== undefined) return undefined;
  const { contents, problems } = scanLog(await new Journal({ directory: join(directory, 'journal') }).read());
  if (contents === undefined || problems.length > 0) return undefined;
  const { identity, generation, base, entries } = contents;
  return { clusterId: identity.clusterId, generation, lastIndex: base.index + entries.length };
}
