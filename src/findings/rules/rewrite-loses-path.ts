// rewrite-loses-path: a rewrite sends distinct paths below a prefix to one.
import type { Witness } from '../../model/answers/finding-answers.ts';
import type { Rewrite } from '../../model/rewrite.ts';
import { type RewritePlan, upstreamTarget } from '../../proxy/action/target-rewrite.ts';
import type { ForwardPlan } from '../../proxy/forward/forward-plan.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Pairs of paths below that of a request which the entry serves. */
const tried = [
  ['/first', '/second'],
  ['/same/first', '/same/second'],
] as const;

export function* rewritesThatLosePaths(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    if (entry.path.type === 'exact') continue;
    const written = writtenIn(entry);
    if (written.length === 0 || entry.action?.kind !== 'forward') continue;
    yield;
    const base = subject.servedBy(entry);
    if (base === undefined) continue;
    for (const { pointer, planOf } of written) {
      const witness = lostPair(subject, entry, base, entry.action.plan, planOf(entry.action.plan));
      if (witness === undefined) continue;
      const message = `the rewrite of ${nameOf(entry)} sends distinct paths to one`;
      found.push({ severity: 'info', ...placeOf(entry, pointer), message, witness, because: [], madeOf: [entry] });
    }
  }
  return found;
}

interface WrittenRewrite {
  readonly pointer: string;
  readonly planOf: (plan: ForwardPlan) => RewritePlan | undefined;
}

/** Rewrites of the path: that of the route, unless each share has its own, and those of shares. */
function writtenIn({ route: { forward } }: RankedEntry): readonly WrittenRewrite[] {
  if (forward === undefined) return [];
  const ofRoute = fieldOf(forward.rewrite);
  const own = forward.destinations.map(({ rewrite }) => fieldOf(rewrite));
  const isUsed = own.includes(undefined);
  return [
    ...(ofRoute !== undefined && isUsed
      ? [{ pointer: `/forward/rewrite/${ofRoute}`, planOf: ({ rewrite }: ForwardPlan) => rewrite }]
      : []),
    ...own.flatMap((field, at) =>
      field === undefined
        ? []
        : [
            {
              pointer: `/forward/destinations/${at}/rewrite/${field}`,
              planOf: ({ choice }: ForwardPlan) => choice.shares[at]?.edits?.rewrite,
            },
          ],
    ),
  ];
}

/** Field that rewrites the path; undefined: none does. */
const fieldOf = (rewrite: Rewrite | undefined): 'path' | 'pathRegex' | undefined =>
  rewrite?.path !== undefined ? 'path' : rewrite?.pathRegex !== undefined ? 'pathRegex' : undefined;

/** Two requests below that of `base` that go to one target. */
function lostPair(
  subject: Subject,
  entry: RankedEntry,
  base: Witness,
  { path }: ForwardPlan,
  plan: RewritePlan | undefined,
): readonly Witness[] | undefined {
  for (const ends of tried) {
    const pair = ends.map((end) => {
      const url = new URL(base.url);
      url.pathname = url.pathname.replace(/\/$/, '') + end;
      return { ...base, url: url.href };
    });
    const settled = pair.map((witness) => subject.ask(witness));
    if (!settled.every(({ winner }) => winner === entry)) continue;
    const [one, other] = settled.map(({ request }) => upstreamTarget(plan, path, request));
    if (one === other) return pair;
  }
  return undefined;
}
