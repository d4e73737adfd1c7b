// Section of HAProxy with the defaults that it takes.
import type { Ledger } from '../import-ledger.ts';
import type { Statement } from '../statement.ts';

export class Section {
  readonly statement: Statement;
  readonly ledger: Ledger;
  readonly name: string;
  /** Statements of its defaults, then its own. */
  readonly statements: readonly Statement[];

  constructor(statement: Statement, ledger: Ledger, defaults: Statement | undefined) {
    this.statement = statement;
    this.ledger = ledger;
    this.name = statement.words[0] ?? statement.key;
    this.statements = [...(defaults?.children ?? []), ...statement.children];
  }

  /** Statements that begin with these words, in their order. */
  all(...words: readonly string[]): Statement[] {
    return this.statements.filter(
      (each) => [each.key, ...each.words.slice(0, words.length - 1)].join() === words.join(),
    );
  }

  /** Statements of the section itself, without those of its defaults. */
  own(key: string): Statement[] {
    return this.statement.children.filter((each) => each.key === key);
  }

  one(...words: readonly string[]): Statement | undefined {
    return this.all(...words).at(-1);
  }

  /** An option that stands, and that no later `no option` takes back. */
  option(name: string): Statement | undefined {
    const on = this.one('option', name);
    const off = this.one('no', 'option', name);
    return on === undefined || (off !== undefined && this.statements.indexOf(off) > this.statements.indexOf(on))
      ? undefined
      : on;
  }

  /** Timeout as a duration; undefined where it is not given. */
  timeout(name: string): string | undefined {
    return durationOf(this.one('timeout', name)?.words[1]);
  }

  get isTcp(): boolean {
    return this.one('mode')?.words[0] !== 'http';
  }
}

const units: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of a time of HAProxy, in `bare` where it names no unit; undefined where it is none. */
export function millisecondsOf(text: string | undefined, bare = 'ms'): number | undefined {
  const [, count, unit = bare] = /^(\d+)(us|ms|s|m|h|d)?$/.exec(text ?? '') ?? [];
  return count === undefined ? undefined : Number(count) * (units[unit] ?? 1);
}

/** The same as a duration. */
export function durationOf(text: string | undefined, bare = 'ms'): string | undefined {
  const time = millisecondsOf(text, bare);
  return time === undefined ? undefined : `${Math.ceil(time)}ms`;
}
