// Shadow of a rollout: requests that stable serves are matched against the candidate too, which serves none of them
// (fleet.md §7). Counts by what differs, as proxies report them, and examples.
import type { ShadowCounts, ShadowExample } from './answers/rollout-answers.ts';
import { type ShadowKind, shadowKinds } from './shadow-kinds.ts';

/** Counts, in the order in which they are told. */
export const shadowCountNames = ['requests', 'same', ...shadowKinds, 'undecided'] as const;

const countsBy = (count: (name: keyof ShadowCounts) => number): ShadowCounts =>
  Object.fromEntries(shadowCountNames.map((name) => [name, count(name)])) as unknown as ShadowCounts;

export const noShadow: ShadowCounts = countsBy(() => 0);

export const isShadowCounts = (value: Readonly<Record<string, unknown>>): boolean =>
  shadowCountNames.every((name) => Number.isSafeInteger(value[name]) && Number(value[name]) >= 0);

/** Returns the sum of those that are there; undefined without any. */
export function sumOfShadows(list: readonly (ShadowCounts | undefined)[]): ShadowCounts | undefined {
  const all = list.filter((each) => each !== undefined);
  return all.length === 0 ? undefined : countsBy((name) => all.reduce((sum, each) => sum + each[name], 0));
}

/** Returns the counts between two readings; 0 where the later one is lower. */
export const shadowSince = (now: ShadowCounts, before: ShadowCounts = noShadow): ShadowCounts =>
  countsBy((name) => Math.max(0, now[name] - before[name]));

export type ShadowExamples = Readonly<Record<ShadowKind, readonly ShadowExample[]>>;

/** Examples of one kind that are kept. */
export const shadowExamplesMax = 100;

const examplesBy = (list: (kind: ShadowKind) => readonly ShadowExample[]): ShadowExamples =>
  Object.fromEntries(shadowKinds.map((kind) => [kind, list(kind)])) as unknown as ShadowExamples;

export const noShadowExamples: ShadowExamples = examplesBy(() => []);

/** Returns the examples of all, at most so many of each kind. */
export const joinedExamples = (list: readonly Partial<ShadowExamples>[]): ShadowExamples =>
  examplesBy((kind) => list.flatMap((each) => each[kind] ?? []).slice(0, shadowExamplesMax));
