// protected-in-cleartext: credentials are taken on a listener without TLS that other machines reach.
import { consumerFinders } from '../../proxy/consumers/consumer-finders.ts';
import type { RankedEntry } from '../../proxy/match/route-entry.ts';
import { nameOf, placeIn, placeOf, type RawFinding } from '../finding.ts';
import { isLoopback } from '../own-address.ts';
import type { Subject } from '../subject.ts';

export function* protectedInCleartext(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  const open = subject.listeners.filter(
    ({ tls, address, redirectToHttps }) =>
      tls === undefined && redirectToHttps === undefined && !isLoopback(subject.bindAddress ?? address),
  );
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    const taking = entry.chain.find(takesCredentials);
    if (taking?.middleware === undefined) continue;
    yield;
    for (const listener of subject.listenersOf(entry)) {
      if (!open.includes(listener)) continue;
      const witness = subject.servedBy(entry, [listener]);
      if (witness === undefined) continue;
      found.push({
        severity: 'warning',
        ...placeOf(entry, '/middlewareIds'),
        message: `${nameOf(entry)} takes credentials on listener "${listener.name}", which has no TLS`,
        witness,
        because: [placeIn('middlewares', taking.middleware), placeIn('listeners', listener, '/tls')],
        madeOf: [entry],
      });
      break;
    }
  }
  return found;
}

function takesCredentials({ middleware, disabled }: RankedEntry['chain'][number]): boolean {
  if (disabled || middleware === undefined) return false;
  if (consumerFinders.has(middleware.type)) return true;
  const rules = middleware.type === 'inlineAuthz' ? (middleware.inlineAuthz?.rules ?? []) : [];
  return rules.some(({ cel }) => /headers\s*(\.|\[\s*["'])authorization\b/i.test(cel));
}
