// Plan of the files that a command names: read, compared with the cluster, faults told as one failure.
import type { BatchAnswer } from '../../model/answers/batch-answers.ts';
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import type { Api } from '../connection/api-client.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { countOf, type Fault, faultLines } from '../input/fault.ts';
import type { Input } from '../input/input-entities.ts';
import { readInputFiles } from '../input/input-files.ts';
import { variablesOf } from '../input/variables.ts';
import { type ClusterState, stagedState } from './cluster-state.ts';
import type { Change, Plan } from './plan.ts';
import { kindsReferredTo } from './references.ts';

export interface InputFlags {
  readonly file: readonly string[];
  readonly owner: string | undefined;
  readonly var: readonly string[];
}

/** Flags of commands that read files. */
export const inputFlags = {
  file: { kind: 'texts', alias: 'f', value: 'FILE', brief: 'File, folder with all below it, or - for standard input' },
  owner: { kind: 'text', value: 'NAME', brief: 'Owner of the resources whose document names none' },
  var: { kind: 'texts', value: 'NAME=VALUE', brief: 'Fills $(NAME) in scalars' },
} as const;

export interface InputPlan {
  readonly input: Input;
  readonly plan: Plan;
  readonly state: ClusterState;
}

/** Reads the files of the flags. Throws a failure that has all faults of their text. */
export async function readInput({ file, owner, var: given }: InputFlags): Promise<Input> {
  const { readEntities } = await import('../checks.ts');
  const input = readEntities(await readInputFiles(file), variablesOf(given), owner);
  if (input.faults.length > 0) throw refusedInput(input.faults);
  return input;
}

/** Compares the input with what is staged. Throws a failure that has all faults. */
export async function planInput(api: Api, input: Input, options: { readonly adopt: boolean }): Promise<InputPlan> {
  const state = await stagedState(api, kindsNeeded(input));
  const plan = await planAgainst(input, state, options);
  return { input, state, plan: { ...plan, changes: await withoutSameSecrets(api, plan.changes) } };
}

/** Values of secrets are not told: a dry run finds out which ones would change. A key that may not write sees none. */
async function withoutSameSecrets(api: Api, changes: readonly Change[]): Promise<readonly Change[]> {
  const isSecret = ({ is, kind }: Change) => is === 'changed' && kind === 'secrets';
  const secrets = changes.filter(isSecret);
  if (secrets.length === 0) return changes;
  const operations = secrets.map((change) => ({
    op: 'upsert',
    kind: 'secrets',
    id: change.id,
    ...('entity' in change && { body: change.entity }),
  }));
  const { status, body } = await api.ask<BatchAnswer>('POST', '/batch', {
    query: { dryRun: 'true', override: 'true' },
    json: { operations },
    allows: [403],
  });
  const results = status === 403 ? [] : body.results;
  const changing = new Set(results.filter(({ action }) => action !== 'none').map(({ id }) => id));
  return changes.filter((change) => !isSecret(change) || changing.has(change.id));
}

export async function planAgainst(
  input: Input,
  state: ClusterState,
  options: { readonly adopt: boolean },
): Promise<Plan> {
  const { planOf } = await import('../checks.ts');
  const plan = planOf(input, state, options);
  if (plan.faults.length > 0) throw refusedInput(plan.faults);
  return plan;
}

/** Kinds that appear in the input, and those that they refer to. */
export function kindsNeeded({ kinds, entities }: Input): ReadonlySet<EditableKind> {
  const needed = new Set<EditableKind>(kinds);
  for (const kind of kinds) for (const other of kindsReferredTo(kind)) needed.add(other);
  for (const { fields } of entities) if (holdsSecretName(fields)) needed.add('secrets');
  if ([...kinds].some((kind) => kind === 'routes' || kind === 'groups')) needed.add('middlewares');
  return new Set(editableKinds.filter((kind) => needed.has(kind)));
}

function holdsSecretName(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('{{secret:value:');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, part]) => (key === 'bodyFrom' && holdsKey(part, 'secret')) || holdsSecretName(part),
  );
}

const holdsKey = (value: unknown, key: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key);

export const refusedInput = (faults: readonly Fault[]): CommandFailure =>
  new CommandFailure(
    exitCodes.failed,
    `refused: ${countOf(faults.length, 'fault')}, nothing was staged`,
    faultLines(faults),
  );
