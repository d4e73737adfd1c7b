// Answers of batches: outcomes of the operations, warnings, and what a dry run foresees.

import type { BatchResult } from '../../model/answers/batch-answers.ts';
import type { EntityDifference } from '../../model/answers/entity-difference.ts';
import type { Convergence } from '../../model/answers/fleet-answers.ts';
import type { Problem } from '../../model/problem.ts';
import type { EntityName, Result } from '../../state/command.ts';
import { withConvergence } from '../activation-wait.ts';
import { jsonPieces } from '../json-pieces.ts';
import { ownerProblem } from '../owner-warnings.ts';
import { type Answer, jsonArray, stagedTag } from '../resource-answer.ts';
import type { SentBatch } from './sent-batch.ts';

type Heads = Pick<SentBatch, 'heads'>;

/** Member of an answer that says how many operations changed something. */
export const countOf = ({ outcomes = [], sum }: Pick<Result, 'outcomes' | 'sum'>): string =>
  `"changed":${sum?.changed ?? outcomes.reduce((count, [, , changed]) => count + changed, 0)}`;

/** Member with each outcome. A replay comes with the same body, so the heads of this one are those of the first. */
export function* resultsOf({ heads }: Heads, { outcomes = [] }: Pick<Result, 'outcomes'>): Generator<void, string> {
  const results: string[] = [];
  for (const [at, { op, kind }] of heads.entries()) {
    const [id, revision, changed] = outcomes[at] ?? ['', 0, 0];
    const etag = revision === 0 ? null : `"${revision}"`;
    results.push(JSON.stringify({ op, kind, id, etag, changed: changed === 1 } satisfies BatchResult));
    yield;
  }
  return `"results":${jsonArray(results)}`;
}

/** Member with each outcome of a dry run, from the difference that the batch would make. */
export function* foreseenOf(
  { heads }: Heads,
  { outcomes = [] }: Pick<Result, 'outcomes'>,
  { created, changed }: EntityDifference,
): Generator<void, string> {
  const key = (kind: string, id: string): string => `${kind}/${id}`;
  const isNew = new Set(created.map(({ kind, id }) => key(kind, id)));
  const changes = new Map(changed.map((each) => [key(each.kind, each.id), each.changes.map(({ pointer }) => pointer)]));
  const results: string[] = [];
  for (const [at, { op, kind }] of heads.entries()) {
    const [id, , isChanged] = outcomes[at] ?? ['', 0, 0];
    const written = isNew.has(key(kind, id)) ? 'create' : 'update';
    const action = isChanged === 0 ? 'none' : op === 'delete' ? 'delete' : written;
    const paths = changes.get(key(kind, id)) ?? [];
    results.push(JSON.stringify({ action, kind, id, changes: paths } satisfies BatchResult));
    yield;
  }
  return `"results":${jsonArray(results)}`;
}

/** Warnings about changes of what another owner maintains. */
export function* ownerProblems(
  { heads }: Heads,
  { outcomes = [], sum }: Pick<Result, 'outcomes' | 'sum'>,
): Generator<void, Problem[]> {
  if (sum !== undefined) return sum.owned.map(([kind, id, owner]) => ownerProblem(kind, id, owner));
  const problems: Problem[] = [];
  for (const [at, [id, , , owner]] of outcomes.entries()) {
    const kind = heads[at]?.kind;
    if (owner !== undefined && kind !== undefined) problems.push(ownerProblem(kind, id, owner));
    yield;
  }
  return problems;
}

/** Answer of a dry run, in pieces: what would change of a large batch is as long as the batch. */
export function* rehearsedTexts(
  outcome: string,
  entities: EntityDifference,
  told: { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] },
): Generator<string> {
  yield `{${outcome},"entities":`;
  yield* jsonPieces(entities);
  yield `,"problems":${JSON.stringify(told.problems)},"warnings":${JSON.stringify(told.warnings)}}`;
}

interface Written {
  readonly index: number;
  /** Member of the answer with what became of the operations. */
  readonly outcome: string;
  readonly pruned?: readonly EntityName[] | undefined;
  /** JSON text of its summary. */
  readonly snapshot?: string;
  readonly warnings: readonly Problem[];
  /** Proxies that have the activation, where they were waited for. */
  readonly convergence?: Convergence | undefined;
  /** Revision of the staged state; undefined for a result of an earlier program. */
  readonly staged: number | undefined;
}

export function answered(
  { index, outcome, pruned, snapshot, warnings, convergence, staged }: Written,
  headers: Answer['headers'],
): Answer {
  const more = `${prunedText(pruned)}${snapshot === undefined ? '' : `,"snapshot":${snapshot}`}`;
  const body = `{"index":${index},${outcome}${more},"warnings":${JSON.stringify(warnings)}}`;
  return { status: 200, headers: { ...stagedTag(staged), ...headers }, body: withConvergence(body, convergence) };
}

/** The member of a batch that was to prune; empty for others. */
export const prunedText = (pruned: readonly EntityName[] | undefined): string =>
  pruned === undefined ? '' : `,"pruned":${JSON.stringify(pruned.map(([kind, id]) => ({ kind, id })))}`;
