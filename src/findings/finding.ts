// Finding: one thing that is wrong with a table for certain, with a request that shows it.
import type { Finding, Findings, FoundPlace } from '../model/answers/finding-answers.ts';
import { type Severity, severities } from '../model/severity.ts';
import type { RankedEntry } from '../proxy/match/route-entry.ts';

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

export const countsOf = (findings: readonly Pick<Finding, 'severity'>[]): Findings['counts'] => {
  const counts = { error: 0, warning: 0, info: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts;
};

/** Returns those that are at least as grave. */
export const atLeast = (findings: readonly Finding[], severity: Severity): readonly Finding[] =>
  findings.filter((each) => severities.indexOf(each.severity) <= severities.indexOf(severity));
