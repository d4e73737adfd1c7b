// LevelDB drops damaged pieces of its write-ahead file and opens without an error (raft.md A6.1). The only trace
// is a line in its own text log, which each open starts afresh (the one before is kept as LOG.old).
import { join } from 'node:path';

import { readIfPresent } from '../../disk/durable-file.ts';

const complaint = /\bdropping \d+ bytes|\bIgnoring error\b|\bCorruption\b/;
const linesMax = 20;

/** The lines of the latest open that speak of lost or damaged bytes, without their time stamps. */
export async function readComplaints(databaseDirectory: string): Promise<string[]> {
  const text = (await readIfPresent(join(databaseDirectory, 'LOG'))) ?? '';
  const lines = text.split('\n').filter((line) => complaint.test(line));
  return lines.slice(0, linesMax).map((line) => line.replace(/^\S+ [0-9a-f]+ /, ''));
}
