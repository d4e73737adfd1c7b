// rewrite-loses-path: a rewrite sends distinct paths below a prefix to one.
import type { Witness } from '../../model/answers/finding-answers.ts';
import { upstreamTarget } from '../../proxy/action/target-rewrite.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

export function* rewritesThatLosePaths(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    const rewrite = entry.route.forward?.rewrite;
    const writesPath = rewrite?.path !== undefined || rewrite?.pathRegex !== undefined;
    if (!writesPath || entry.path.type === 'exact' || entry.action?.kind !== 'forward') continue;
    yield;
    const { plan } = entry.action;
    const pair = pairOf(subject, entry);
    if (pair === undefined) continue;
    const [one, other] = pair.map((witness) => upstreamTarget(plan.rewrite, plan.path, subject.ask(witness).request));
    if (one !== other) continue;
    found.push({
      severity: 'info',
      ...placeOf(entry, `/forward/rewrite/${rewrite.path === undefined ? 'pathRegex' : 'path'}`),
      message: `the rewrite of ${nameOf(entry)} sends distinct paths to one`,
      witness: pair,
      because: [],
      madeOf: [entry],
    });
  }
  return found;
}

/** Two requests below the path of a request that the entry serves. */
function pairOf(subject: Subject, entry: RankedEntry): readonly Witness[] | undefined {
  const base = subject.servedBy(entry);
  if (base === undefined) return undefined;
  const pair = ['first', 'second'].map((segment) => {
    const url = new URL(base.url);
    url.pathname = `${url.pathname.replace(/\/$/, '')}/${segment}`;
    return { ...base, url: url.href };
  });
  return pair.every((witness) => subject.ask(witness).winner === entry) ? pair : undefined;
}
