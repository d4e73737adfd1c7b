// Report of an import: the values that files and `-o json` have, and lines for people.
import { type Fault, faultLines } from '../input/fault.ts';
import type { ReportEntry } from './import-ledger.ts';
import { shownWords } from './shown-words.ts';

export interface ReportRow {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly directive: string;
  readonly outcome: ReportEntry['outcome'];
  readonly why?: string;
  readonly instead?: string;
}

export const rowsOf = (report: readonly ReportEntry[]): ReportRow[] =>
  report.map(({ statement, outcome, why, instead }) => ({
    ...statement.place,
    directive: directiveOf(statement),
    outcome,
    ...(why !== undefined && { why }),
    ...(instead !== undefined && { instead }),
  }));

/** Lines of what is not taken as it stands; what an outcome around it covers is counted there. */
export function reportLines(report: readonly ReportEntry[]): string[] {
  const shown = report.filter(({ outcome, isInherited }) => outcome !== 'taken' && !isInherited);
  return shown.flatMap((entry) => faultLines([asFault(entry)]));
}

function asFault({ statement, outcome, why, instead }: ReportEntry): Fault {
  const message = [why, instead].filter((each) => each !== undefined).join('; instead: ');
  return {
    place: statement.place,
    subject: outcome,
    pointer: directiveOf(statement),
    message: message === '' ? '' : `(${message})`,
  };
}

const wordsMax = 120;

function directiveOf(statement: ReportEntry['statement']): string {
  const { name } = statement;
  const words = shownWords(statement);
  const text = words.length === 0 ? name : `${name} ${words.join(' ')}`;
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= wordsMax ? line : `${line.slice(0, wordsMax - 1)}…`;
}

export function countsOf(report: readonly ReportEntry[]): { taken: number; approximated: number; notTaken: number } {
  const count = (outcome: ReportEntry['outcome']) => report.filter((each) => each.outcome === outcome).length;
  return { taken: count('taken'), approximated: count('approximated'), notTaken: count('not taken') };
}
