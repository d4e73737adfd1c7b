// overtaken-redirect: a redirect of all paths to https, before which other routes serve requests in cleartext.
import type { Witness } from '../../model/answers/finding-answers.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { excludeEachOther } from '../conditions.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Earlier entries that one redirect is compared with. */
const comparedMax = 256;
/** Overtaking routes that one finding names. */
const namedMax = 8;
/** Challenges of certificate authorities are to be answered in cleartext (RFC 8555 §8.3). */
const challenges = '/.well-known/acme-challenge';

interface Overtaker {
  readonly entry: RankedEntry;
  readonly witness: Witness;
}

export function* overtakenRedirects(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  for (const [at, redirect] of subject.entries.entries()) {
    if (subject.isPause()) yield;
    if (!isForAllPaths(redirect)) continue;
    const earlier = subject.entries.slice(Math.max(0, at - comparedMax), at);
    const overtakers = yield* overtakersOf(subject, redirect, earlier);
    const [first] = overtakers;
    if (first === undefined) continue;
    found.push({
      severity: 'warning',
      ...placeOf(redirect, '/redirect'),
      message: `the redirect of ${nameOf(redirect)} to https is overtaken by ${nameOf(first.entry)}, which serves requests in cleartext`,
      witness: first.witness,
      because: overtakers.map(({ entry }) => placeOf(entry, '/match')),
      madeOf: [redirect, first.entry],
    });
  }
  return found;
}

function isForAllPaths({ route, path, closed }: RankedEntry): boolean {
  const { match = {}, redirect } = route;
  if (redirect?.scheme !== 'https' || closed !== undefined || path.type !== 'prefix' || path.text !== '') return false;
  const { methods = [], headers = [], queryParams = [], cel, grpc } = match;
  return methods.length + headers.length + queryParams.length === 0 && cel === undefined && grpc !== true;
}

function* overtakersOf(
  subject: Subject,
  redirect: RankedEntry,
  earlier: readonly RankedEntry[],
): Generator<void, readonly Overtaker[]> {
  const plain = subject.listeners.filter(
    ({ tls, redirectToHttps }) => tls === undefined && redirectToHttps === undefined,
  );
  const found: Overtaker[] = [];
  for (const entry of earlier) {
    if (found.length >= namedMax) break;
    const { route, path, closed } = entry;
    if (closed !== undefined || route.redirect !== undefined) continue;
    if (path.text.startsWith(challenges) || excludeEachOther(entry, redirect)) continue;
    yield;
    for (const witness of subject.witnesses([entry, redirect], plain))
      if (witness.url.startsWith('http:') && subject.ask(witness).winner === entry) {
        found.push({ entry, witness });
        break;
      }
  }
  return found;
}
