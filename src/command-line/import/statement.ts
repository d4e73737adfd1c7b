// Statement of a configuration of another program: a directive with its words, or a key of YAML or JSON with its value.
import type { Place } from '../input/fault.ts';

export interface Statement {
  /** Name in the report: `proxy_pass`, `spec.rules[0].host`. */
  readonly name: string;
  /** Directive, or last key of the name. */
  readonly key: string;
  /** Words of a directive, or the one scalar of a key; empty where there is none. */
  readonly words: readonly string[];
  readonly children: readonly Statement[];
  readonly place: Place;
  /** The report lists it by itself. Maps and lists stand for the scalars in them. */
  readonly isListed: boolean;
  /** The folder or the file that it includes is not there. */
  readonly lacksFiles?: boolean;
}

/** Yields the statement and all below it, in the order of the file. */
export function* allBelow(statement: Statement): Generator<Statement> {
  yield statement;
  for (const child of statement.children) yield* allBelow(child);
}
