// redirect-loop: a redirect that leads back to its own route within ten steps.
import type { Witness } from '../../model/answers/finding-answers.ts';
import type { Listener } from '../../model/listener.ts';
import { type RedirectAnswer, redirectAnswer } from '../../proxy/action/redirect.ts';
import { schemeOf } from '../../proxy/explain/explained-listener.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { hostMatches } from '../../proxy/target/host.ts';
import { nameOf, placeOf, type RawFinding } from '../finding.ts';
import { isBehindHttps } from '../forwarded-https.ts';
import type { Subject } from '../subject.ts';

const stepsMax = 10;
/** Requests of an entry that are followed. */
const triedMax = 8;

export function* redirectLoops(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    // The action of any other is made for its first request.
    if (entry.route.redirect === undefined || entry.closed !== undefined) continue;
    yield;
    const loop = loopOf(subject, entry);
    if (loop === undefined) continue;
    const { witness, steps } = loop;
    const others = [...new Set(steps)].filter((each) => each !== entry);
    const over = others.length === 0 ? '' : `, over ${others.map(nameOf).join(', ')}`;
    found.push({
      severity: 'error',
      ...placeOf(entry, '/redirect'),
      message: `the redirect of ${nameOf(entry)} leads back to it${over}`,
      witness,
      because: others.map((each) => placeOf(each, '/redirect')),
      madeOf: [entry, ...others],
    });
  }
  return found;
}

function loopOf(subject: Subject, entry: RankedEntry): { witness: Witness; steps: readonly RankedEntry[] } | undefined {
  let tried = 0;
  for (const witness of subject.witnesses([entry])) {
    if (++tried > triedMax) return undefined;
    if (subject.ask(witness).winner !== entry) continue;
    const steps = follow(subject, entry, witness);
    if (steps !== undefined) return { witness, steps };
  }
  return undefined;
}

/** Entries on the way back to the first one; undefined: the way ends elsewhere. */
function follow(subject: Subject, first: RankedEntry, from: Witness): readonly RankedEntry[] | undefined {
  const steps: RankedEntry[] = [];
  let current = from;
  for (let step = 0; step < stepsMax; step++) {
    const { winner, request, first: ofListener } = subject.ask(current);
    let answer: RedirectAnswer | undefined;
    if (ofListener?.action === 'redirect') answer = ofListener;
    else if (winner?.action?.kind === 'redirect' && winner.closed === undefined && isOpen(winner)) {
      if (step > 0 && winner === first) return steps;
      steps.push(winner);
      answer = redirectAnswer(winner.action.redirect, winner.path, request);
    }
    const next = answer === undefined ? undefined : nextOf(subject, current, answer);
    if (next === undefined) return undefined;
    current = next;
  }
  return subject.ask(current).winner === first ? steps : undefined;
}

/** A middleware before it may answer in its place. */
const isOpen = ({ chain }: RankedEntry): boolean =>
  chain.every(
    ({ disabled, middleware }) =>
      disabled ||
      middleware?.type === 'headers' ||
      middleware?.type === 'accessLog' ||
      middleware?.type === 'cors' ||
      middleware?.type === 'rateLimit',
  );

/** Method with which clients follow a redirect (RFC 9110 §15.4). */
function methodAfter(method: string, status: number): string {
  const becomesGet = (status === 303 && method !== 'HEAD') || (status < 303 && method === 'POST');
  return becomesGet ? 'GET' : method;
}

/** The request that a client makes next; undefined: it leaves for a place that may not be ours. */
function nextOf(
  subject: Subject,
  { method: sent, url, headers, listener }: Witness,
  { status, location }: RedirectAnswer,
): Witness | undefined {
  const method = methodAfter(sent, status);
  const [before, after] = [new URL(url), URL.parse(location, url)];
  if (after === null || (after.protocol !== 'http:' && after.protocol !== 'https:')) return undefined;
  after.hash = '';
  const scheme = after.protocol.slice(0, -1);
  const same = subject.listeners.find(({ id }) => id === listener);
  if (subject.listeners.length === 0) {
    if (after.protocol !== before.protocol || after.host !== before.host) return undefined;
    return { method, url: after.href, headers };
  }
  const on = listenerFor(subject, after, same, scheme);
  if (on === undefined) return undefined;
  const forwarded = isBehindHttps(on) ? { ...headers, 'x-forwarded-proto': scheme } : headers;
  const next = { method, url: after.href, headers: forwarded, listener: on.id };
  if (after.hostname === before.hostname) return next;
  // Another host is ours where a route names it.
  const host = after.hostname.replace(/^\[|\]$/g, '');
  const { matched } = subject.ask(next);
  const isNamed = matched?.hosts.some((pattern) => pattern.kind !== 'any' && hostMatches(pattern, host));
  return isNamed === true ? next : undefined;
}

/**
 * A location without a port is taken to the listener of its scheme: a port may be mapped on the way. Where there is none
 * for https, a listener behind a proxy that ends TLS has it.
 */
function listenerFor(
  { listeners }: Subject,
  { port }: URL,
  same: Listener | undefined,
  scheme: string,
): Listener | undefined {
  const ofScheme = listeners.filter((each) => schemeOf(each) === scheme);
  if (port !== '') return ofScheme.find((each) => each.port === Number(port));
  if (scheme === 'https' && ofScheme.length === 0 && isBehindHttps(same)) return same;
  return same !== undefined && ofScheme.includes(same) ? same : ofScheme[0];
}
