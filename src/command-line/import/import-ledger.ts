// Ledger of an import: what became of each statement. A statement that no mapper marks is not taken, so none is left out.
import { allBelow, type Statement } from './statement.ts';

const outcomes = ['taken', 'approximated', 'not taken'] as const;

type StatementOutcome = (typeof outcomes)[number];

interface Mark {
  readonly outcome: StatementOutcome;
  readonly why?: string;
  /** Way to the same end in Sluice. */
  readonly instead?: string;
}

export interface ReportEntry extends Mark {
  readonly statement: Statement;
  /** The outcome is that of a statement around it. */
  readonly isInherited: boolean;
}

const unknown: Mark = { outcome: 'not taken', why: 'is not known to this importer' };

export class Ledger {
  readonly #marks = new Map<Statement, Mark>();

  taken(...statements: readonly Statement[]): void {
    for (const each of statements) this.#mark(each, { outcome: 'taken' });
  }

  /** Marks the statement and all below it. */
  takenWhole(statement: Statement): void {
    this.taken(...allBelow(statement));
  }

  /** Marks the statement and, by inheritance, all below it. */
  approximated(statement: Statement, why: string): void {
    this.#mark(statement, { outcome: 'approximated', why });
  }

  /** Marks the statement and, by inheritance, all below it. */
  notTaken(statement: Statement, why: string, instead?: string): void {
    this.#mark(statement, { outcome: 'not taken', why, ...(instead !== undefined && { instead }) });
  }

  /** The worse of two marks stays, and the first of two alike. */
  #mark(statement: Statement, mark: Mark): void {
    const before = this.#marks.get(statement);
    if (before === undefined || severityOf(mark) > severityOf(before)) this.#marks.set(statement, mark);
  }

  /** Returns an entry for each statement below the roots, in the order of the files. */
  report(roots: readonly Statement[]): ReportEntry[] {
    return roots.flatMap((root) => [...this.#entries(root, undefined)]);
  }

  *#entries(statement: Statement, around: Mark | undefined): Generator<ReportEntry> {
    const own = this.#marks.get(statement);
    const isInherited = around !== undefined && (own === undefined || severityOf(own) < severityOf(around));
    const mark = isInherited ? around : own;
    if (statement.isListed || (own !== undefined && own.outcome !== 'taken'))
      yield { ...(mark ?? unknown), statement, isInherited };
    for (const child of statement.children)
      yield* this.#entries(child, mark === undefined || mark.outcome === 'taken' ? undefined : mark);
  }
}

const severityOf = ({ outcome }: Mark): number => outcomes.indexOf(outcome);
