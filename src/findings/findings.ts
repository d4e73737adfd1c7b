// Findings of a configuration: it is compiled, and every rule looks at the table, in time slices.

import { SluiceError } from '../errors.ts';
import type { Finding } from '../model/answers/finding-answers.ts';
import { describe } from '../model/problem.ts';
import type { Configuration } from '../model/proxy-config.ts';
import { compileForQuestion } from '../proxy/compile/compile-in-slices.ts';
import { inSlices } from '../util/time-slice.ts';
import type { RawFinding } from './finding.ts';
import { rules } from './rules.ts';
import { Subject, type Surroundings } from './subject.ts';

export interface FindOptions extends Surroundings {
  /** Returns whether an entity holds values of secrets: nothing is made of its matchers that is shown. Default: none does. */
  readonly holdsSecret?: (kind: string, id: string) => boolean;
}

/** Rejects with INVALID when the configuration cannot be compiled. In the order of the rules. */
export async function findingsOf(configuration: Configuration, options: FindOptions): Promise<readonly Finding[]> {
  const { table, problems } = await compileForQuestion(() => configuration);
  if (table === undefined) throw new SluiceError('INVALID', describe(problems));
  const entries = await inSlices(table.entriesInSteps());
  const subject = new Subject(configuration, table, entries, options);
  const { holdsSecret = () => false } = options;
  const found: Finding[] = [];
  for (const [rule, find] of Object.entries(rules))
    for (const each of await inSlices(find(subject))) found.push(shown(rule, each, holdsSecret));
  return found;
}

function shown(
  rule: string,
  { madeOf = [], ...raw }: RawFinding,
  holdsSecret: NonNullable<FindOptions['holdsSecret']>,
): Finding {
  const isHidden = madeOf.some(
    ({ route, group }) => holdsSecret('routes', route.id) || (group !== undefined && holdsSecret('groups', group.id)),
  );
  return { rule, ...raw, ...(isHidden && { witness: null }) };
}
