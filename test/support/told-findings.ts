// Findings of a table, as short texts.
import { findingsOf } from '../../src/findings/findings.ts';
import { faultlessTable } from './faultless-table.ts';

/** Returns `rule id pointer severity` of each finding of the faultless table with more in it. */
export async function toldFindings(more: object, nowMs = Date.now()): Promise<readonly string[]> {
  const found = await findingsOf(faultlessTable(more), { nowMs });
  return found.map(({ rule, id, pointer, severity }) => `${rule} ${id} ${pointer} ${severity}`);
}
