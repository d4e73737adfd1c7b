// Scope of nginx: directives of a block, and those that it inherits from the blocks around it.
import type { Ledger } from '../import-ledger.ts';
import type { Statement } from '../statement.ts';

export class Scope {
  readonly statement: Statement;
  readonly ledger: Ledger;
  readonly around: Scope | undefined;
  readonly statements: readonly Statement[];

  constructor(statement: Statement, ledger: Ledger, around?: Scope) {
    this.statement = statement;
    this.ledger = ledger;
    this.around = around;
    this.statements = expanded(statement);
  }

  own(name: string): Statement[] {
    return this.statements.filter(({ key }) => key === name);
  }

  /** Directives of the nearest block that has any: a block that has one inherits none. */
  all(name: string): readonly Statement[] {
    const own = this.own(name);
    return own.length > 0 || this.around === undefined ? own : this.around.all(name);
  }

  /** Last directive of the name, in this block or around it. */
  one(name: string): Statement | undefined {
    return this.all(name).at(-1);
  }

  word(name: string): string | undefined {
    return this.one(name)?.words[0];
  }
}

/** Statements of a block, those of included files in their place. */
function expanded({ children }: Statement): Statement[] {
  return children.flatMap((child) => (child.key === 'include' ? expanded(child) : [child]));
}

const unit: Readonly<Record<string, number>> = { '': 1, ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of a time such as `30s` or `1m30s`; undefined where it is none. */
export function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^(\d+(ms|[smhd])?\s*)+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)(ms|[smhd])?/g)].reduce(
    (sum, [, count, of]) => sum + Number(count) * (unit[of ?? ''] ?? 1),
    0,
  );
}
