// Finding: one thing that is wrong with a table for certain, with a request that shows it.
import { type Severity, severities } from '../model/severity.ts';
import type { RankedEntry } from '../proxy/match/route-entry.ts';

/** Request as `POST /explain` takes it. */
export interface Witness {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Id of the listener; absent where the configuration has none. */
  readonly listener?: string;
  readonly sni?: string;
}

export interface FoundPlace {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  /** JSON pointer within the entity. */
  readonly pointer: string;
}

export interface Finding extends FoundPlace {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  /** Null: none can be told. A list of two for `rewrite-loses-path`. */
  readonly witness: Witness | readonly Witness[] | null;
  readonly because: readonly FoundPlace[];
}

/** Finding of a rule, before values of secrets are taken out. */
export interface RawFinding extends Omit<Finding, 'rule'> {
  /** Entries whose matchers the witness is made of. */
  readonly madeOf?: readonly RankedEntry[];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

export const placeIn = (kind: string, { id, name }: Named, pointer = ''): FoundPlace => ({ kind, id, name, pointer });

/** Place of an entry: its route. */
export const placeOf = ({ route }: RankedEntry, pointer = ''): FoundPlace => placeIn('routes', route, pointer);

/** Name of an entry for messages. */
export const nameOf = ({ route, group }: RankedEntry): string =>
  group === undefined ? `route "${route.name}"` : `route "${route.name}" of group "${group.name}"`;

export type Counts = Readonly<Record<Severity, number>>;

export const countsOf = (findings: readonly Pick<Finding, 'severity'>[]): Counts => {
  const counts = { error: 0, warning: 0, info: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts;
};

/** Returns those that are at least as grave. */
export const atLeast = (findings: readonly Finding[], severity: Severity): readonly Finding[] =>
  findings.filter((each) => severities.indexOf(each.severity) <= severities.indexOf(severity));
