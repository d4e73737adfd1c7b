// Findings of a captured configuration, with values of secrets taken out.

import { SluiceError } from '../../errors.ts';
import { atLeast, countsOf, placeIn } from '../../findings/finding.ts';
import type { Finding } from '../../model/answers/finding-answers.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { findReferences } from '../../model/secret-reference.ts';
import { valueWithoutTexts } from '../../model/secret-texts.ts';
import type { Severity } from '../../model/severity.ts';
import { configurationOf } from '../../snapshot/build.ts';
import { holdersIn, scanEntities } from '../../snapshot/listing.ts';
import type { Captured } from '../../snapshot/staged.ts';
import type { Stored } from '../../state/view.ts';
import { inSlices } from '../../util/time-slice.ts';
import { secretTexts } from '../masked-values.ts';

/** Looks for findings by the code that serves traffic; nothing is made of the matchers of what `holdsSecret`. */
export type Find = (
  configuration: Configuration,
  holdsSecret: (kind: string, id: string) => boolean,
) => Promise<readonly Finding[]>;

/** Certificates come nearer to their end meanwhile. */
const keptMs = 60_000;
const kept = new WeakMap<Captured, { readonly untilMs: number; readonly found: Promise<readonly Finding[]> }>();

/** Findings of a captured configuration, which never changes: looked for once a minute at most. */
export function keptFindings(find: Find, captured: Captured): Promise<readonly Finding[]> {
  const known = kept.get(captured);
  if (known !== undefined && performance.now() < known.untilMs) return known.found;
  const found = findingsIn(find, captured);
  kept.set(captured, { untilMs: performance.now() + keptMs, found });
  found.catch(() => kept.delete(captured));
  return found;
}

async function findingsIn(find: Find, captured: Captured): Promise<readonly Finding[]> {
  await inSlices(scanEntities(captured.entities));
  const holders = holdersIn(captured.entities);
  const keys = new Set(holders.map(({ kind, entity }) => `${kind} ${entity.id}`));
  const found = await find(configurationOf(captured), (kind, id) => keys.has(`${kind} ${id}`));
  const texts = secretTexts(captured);
  return texts.length === 0 ? found : found.map((each) => valueWithoutTexts(each, texts) as Finding);
}

/** Findings of secrets to which nothing of a configuration refers. */
export function unusedSecrets({ entities }: Captured, secrets: readonly Stored[]): readonly Finding[] {
  const used = new Set(
    holdersIn(entities).flatMap(({ entity }) =>
      findReferences(entity.spec).flatMap(({ source, argument }) => (source === 'value' ? argument : [])),
    ),
  );
  return secrets.filter(({ id }) => !used.has(id)).map(unusedSecret);
}

const unusedSecret = (secret: Stored): Finding => ({
  rule: 'unused',
  severity: 'info',
  ...placeIn('secrets', secret),
  message: `nothing refers to "${secret.name}"`,
  witness: null,
  because: [],
});

/** Throws FINDINGS with those that are at least as grave. */
export function refuseFindings(findings: readonly Finding[], severity: Severity): void {
  const grave = atLeast(findings, severity);
  if (grave.length === 0) return;
  const { error, warning, info } = countsOf(grave);
  const parts = [
    [error, 'error'],
    [warning, 'warning'],
    [info, 'info'],
  ].filter(([count]) => count !== 0);
  const text = parts.map(([count, name]) => `${count} of severity ${name}`).join(', ');
  const [{ message }] = grave as [Finding];
  throw new SluiceError('FINDINGS', `findings: ${text}; the first: ${message}`, { body: { findings: grave } });
}
