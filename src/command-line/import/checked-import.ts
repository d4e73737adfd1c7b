// Check of an import by the code that a capture runs: what the model refuses is left out and told, and each route gets a case
// that holds.
import type { Configuration } from '../../model/proxy-config.ts';
import { failed } from '../exit.ts';
import { faultLines } from '../input/fault.ts';
import { subjectOf } from '../input/input-entities.ts';
import { checkOffline } from '../offline/offline-check.ts';
import { runCases } from '../offline/route-cases.ts';
import { casesOf, type ImportedCase } from './cases.ts';
import type { Ledger } from './import-ledger.ts';
import type { ImportedConfig, ImportedListener, ImportedRoute } from './intermediate.ts';
import { type ImportedResource, type NamedRoute, ResourceSet } from './resources.ts';

export interface CheckedImport {
  readonly resources: readonly ImportedResource[];
  readonly routes: readonly NamedRoute[];
  readonly cases: readonly ImportedCase[];
  readonly notes: readonly string[];
}

export async function checkedImport(config: ImportedConfig, ledger: Ledger): Promise<CheckedImport> {
  const set = new ResourceSet(config);
  const { resources, configuration, warnings } = await accepted(set.resources, ledger);
  const kept = new Set(resources.filter(({ kind }) => kind === 'routes').map(({ name }) => name));
  const schemes = schemesOf(config);
  const cases: ImportedCase[] = [];
  const notes = [...config.differences, ...warnings];
  const routes = set.routes.filter(({ name }) => kept.has(name));
  for (const named of routes) {
    const found = await holding(casesOf(named, schemes(named.route)), named, configuration);
    if ('case' in found) cases.push(found.case);
    else notes.push(`${placed(named)}: no case for route ${named.name}: ${found.why}`);
  }
  return { resources, routes, cases, notes };
}

/** Schemes of the listeners that a route is bound to, plain ones first. */
function schemesOf({ listeners }: ImportedConfig): (route: ImportedRoute) => string[] {
  const schemeOf = ({ fields }: ImportedListener) => (fields.tls === undefined ? 'http' : 'https');
  return ({ listeners: bound }) => {
    const own = listeners.filter(({ name }) => bound === undefined || bound.length === 0 || bound.includes(name));
    return own.length === 0 ? ['http'] : [...new Set(own.map(schemeOf))].toSorted();
  };
}

/** Leaves out what is refused, and what refers to it, until nothing is; routes are closed in place of being left out. */
async function accepted(all: readonly ImportedResource[], ledger: Ledger) {
  let resources = all;
  for (;;) {
    const entities = resources.map(({ kind, name, fields, from }) => ({
      kind,
      name,
      fields,
      placeOf: () => from.place,
    }));
    const kinds = new Set(entities.map(({ kind }) => kind));
    const input = { entities, kinds, owners: new Set<string>(), faults: [] };
    const { faults, warnings, configuration } = await checkOffline(input, undefined, Date.now());
    if (faults.length === 0) return { resources, configuration, warnings: faultLines(warnings) };
    const refused = new Map(faults.map((fault) => [fault.subject, fault]));
    const left = resources.flatMap((each): ImportedResource[] => {
      const fault = refused.get(subjectOf(each));
      if (fault === undefined) return [each];
      ledger.notTaken(each.from, `${fault.subject} is refused: ${fault.pointer} ${fault.message}`);
      return each.kind === 'routes' && each.fields.directResponse === undefined && !fault.pointer.startsWith('/match')
        ? [closedRoute(each)]
        : [];
    });
    if (faults.every(({ subject }) => !resources.some((each) => subjectOf(each) === subject)))
      throw failed('what was imported has faults', faultLines(faults));
    resources = left;
  }
}

/** Answers 503 to what the route takes, so that no other route serves it without its middlewares. */
function closedRoute({ fields, ...rest }: ImportedResource): ImportedResource {
  const kept = Object.entries(fields).filter(([key]) => ['name', 'match', 'priority', 'listenerIds'].includes(key));
  return { ...rest, fields: { ...Object.fromEntries(kept), directResponse: { status: 503 } } };
}

async function holding(
  candidates: readonly ImportedCase[],
  { name }: NamedRoute,
  configuration: Configuration,
): Promise<{ readonly case: ImportedCase } | { readonly why: string }> {
  if (candidates.length === 0) return { why: 'no path is known that its expression matches' };
  let why = '';
  for (const candidate of candidates) {
    const placeOf = () => ({ file: name, line: 1, column: 1 });
    const [result] = await runCases([{ ...candidate, placeOf }], configuration);
    if (result === undefined || result.differences.length === 0) return { case: candidate };
    why ||= result.differences.join('; ');
  }
  return { why };
}

const placed = ({ route: { from } }: NamedRoute): string => `${from.place.file}:${from.place.line}`;
