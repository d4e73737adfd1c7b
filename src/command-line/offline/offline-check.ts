// Checks of an input without a server, by the code that a capture runs: the model, references, and compilation of the whole.

import { findingsOf } from '../../findings/findings.ts';
import type { Finding } from '../../model/answers/finding-answers.ts';
import { type ConfigKind, configKinds, type EditableKind } from '../../model/kinds.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { findReferences } from '../../model/secret-reference.ts';
import type { Severity } from '../../model/severity.ts';
import { checkConfig } from '../../proxy/config-check.ts';
import { parseSettings } from '../../settings/settings.ts';
import { findDangling } from '../../snapshot/dangling.ts';
import { idleBindings } from '../../snapshot/idle-bindings.ts';
import { overlappingListeners } from '../../snapshot/listener-overlap.ts';
import type { Entity } from '../entities.ts';
import type { Fault } from '../input/fault.ts';
import { type Input, type InputEntity, segmentsOf, subjectOf } from '../input/input-entities.ts';
import type { ClusterState } from '../plan/cluster-state.ts';
import { planOf } from '../plan/plan.ts';

export interface OfflineCheck {
  /** Faults that would refuse the input or a snapshot of it. */
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
  readonly configuration: Configuration;
}

/** `against`: resources besides those of the input, as an export has them. */
export async function checkOffline(input: Input, against: Input | undefined, nowMs: number): Promise<OfflineCheck> {
  const rest = against === undefined ? undefined : planOf(against, { entities: {} }, { adopt: true });
  const state = stateOf(rest?.entities ?? []);
  const plan = planOf(input, state, { adopt: true });
  const faults = [...(rest?.faults ?? []), ...plan.faults];
  const configuration = configurationOf([...withoutReplaced(rest?.entities ?? [], plan.entities), ...plan.entities]);
  if (faults.length > 0) return { faults, warnings: [], configuration };
  const placed = placesOf(input, plan.entities);
  const { problems, warnings } = await problemsOf(configuration, nowMs);
  return { faults: problems.flatMap(placed), warnings: warnings.flatMap(placed), configuration };
}

export interface LintFinding extends Fault {
  readonly rule: string;
  readonly severity: Severity;
  readonly witness: Finding['witness'];
}

/**
 * Finds what is wrong with a configuration that has no fault. Values of secrets are not known: nothing is told of an entity that
 * holds a reference, nor because of one.
 */
export async function lintOffline(
  input: Input,
  against: Input | undefined,
  nowMs: number,
): Promise<{ readonly faults: readonly Fault[]; readonly findings: readonly LintFinding[] }> {
  const { faults, configuration } = await checkOffline(input, against, nowMs);
  if (faults.length > 0) return { faults, findings: [] };
  const entities = configKinds.flatMap((kind) => (configuration[kind] ?? []).map((entity) => ({ kind, entity })));
  const placed = placesOf(input, entities as unknown as readonly Planned[]);
  const isJudged = judgeable(configuration);
  const at = ({ kind, id, pointer }: Pick<Finding, 'kind' | 'id' | 'pointer'>): string => pointerOf(kind, id) + pointer;
  const found = await findingsOf(configuration, { nowMs });
  const certain = found.filter((each) =>
    [each, ...each.because].every((place) => each.rule === 'unused' || isJudged({ pointer: at(place), message: '' })),
  );
  return {
    faults,
    findings: certain.flatMap((each) => {
      const { rule, severity, witness, message } = each;
      return placed({ pointer: at(each), message }).map((fault) => ({ ...fault, rule, severity, witness }));
    }),
  };
}

type Planned = { readonly kind: EditableKind; readonly entity: Entity };

function stateOf(entities: readonly Planned[]): ClusterState {
  const lists = Map.groupBy(entities, ({ kind }) => kind);
  return { entities: Object.fromEntries([...lists].map(([kind, all]) => [kind, all.map(({ entity }) => entity)])) };
}

function withoutReplaced(rest: readonly Planned[], own: readonly Planned[]): readonly Planned[] {
  const ids = new Set(own.map(({ kind, entity }) => `${kind} ${entity.id}`));
  return rest.filter(({ kind, entity }) => !ids.has(`${kind} ${entity.id}`));
}

function configurationOf(entities: readonly Planned[]): Configuration {
  const listOf = (wanted: ConfigKind) =>
    entities
      .filter(({ kind }) => kind === wanted)
      .map(({ entity }) => entity)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  return Object.fromEntries(configKinds.map((kind) => [kind, listOf(kind)])) as unknown as Configuration;
}

async function problemsOf(configuration: Configuration, nowMs: number) {
  const dangling = endOf(findDangling(configuration));
  const compiled = await checkConfig(configuration, nowMs);
  const judged = judgeable(configuration);
  return {
    problems: [...dangling.problems, ...compiled.problems.filter(judged)],
    warnings: [
      ...dangling.warnings,
      ...overlappingListeners(configuration.listeners),
      ...idleBindings(configuration),
      ...compiled.warnings.filter(judged),
    ],
  };
}

/** Resources that hold references to secrets are judged at the capture, where their values are known. */
function judgeable(configuration: Configuration): (problem: Problem) => boolean {
  const holders = new Set(
    configKinds.flatMap((kind) =>
      (configuration[kind] ?? []).flatMap((entity) =>
        findReferences(entity).length > 0 ? [`${kind} ${entity.id}`] : [],
      ),
    ),
  );
  return ({ pointer }) => {
    const [kind, id] = segmentsOf(pointer);
    return !holders.has(`${kind} ${id}`);
  };
}

/** Pointers of problems are `/<kind>/<id>/<field>…`. Those of what is not in the input have no place and are left out. */
function placesOf(input: Input, entities: readonly Planned[]): (problem: Problem) => Fault[] {
  const names = new Map(entities.map(({ kind, entity }) => [`${kind} ${entity.id}`, entity.name]));
  const inputs = new Map<string, InputEntity>(input.entities.map((each) => [`${each.kind} ${each.name}`, each]));
  return ({ pointer, message }) => {
    const [kind = '', id = ''] = segmentsOf(pointer);
    const name = names.get(`${kind} ${id}`) ?? '';
    const found = inputs.get(`${kind} ${name}`) ?? inputs.get(`${kind} ${id}`);
    if (found === undefined) return [];
    const own = pointer
      .split('/')
      .slice(3)
      .map((each) => `/${each}`)
      .join('');
    return [{ place: found.placeOf(own), subject: subjectOf(found), pointer: own, message }];
  };
}

function endOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Returns the errors and warnings of a settings file. */
export function checkSettings(text: string): { readonly error?: string; readonly warnings: readonly string[] } {
  try {
    return { warnings: parseSettings(text, process.env).warnings };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), warnings: [] };
  }
}
