// Verdict report: the verdict on a mirror, for the figures, the metrics and the list of mismatches. The exchange may be
// over by then, and its object another one's.
import type { ExchangeRequest } from '../message/request.ts';
import type { ExchangeEntry } from './entry.ts';
import type { ExchangeContext, ExchangeObserver, Installed } from './exchange-context.ts';
import type { Verdict } from './verdict.ts';

interface ComparedExchange {
  readonly request: ExchangeRequest;
  readonly context: Pick<ExchangeContext, 'figures' | 'mismatches'>;
  readonly entry: ExchangeEntry | undefined;
  readonly observer: ExchangeObserver | undefined;
  readonly installed: Installed | undefined;
}

/** Returns the function that reports the verdict on a copy to that destination. */
export function reportVerdict(exchange: ComparedExchange, destination: string): (verdict: Verdict) => void {
  const { context, request, entry, observer, installed } = exchange;
  const { method, host, path } = request;
  return (verdict) => {
    const { result, difference } = verdict;
    if (result !== 'skipped' && installed?.isOver !== true)
      context.figures.countComparison(installed?.role ?? 'stable', result === 'same');
    if (entry === undefined) return;
    observer?.onVerdict(entry, destination, verdict);
    if (result === 'same' || result === 'skipped' || difference === undefined) return;
    const { id: routeId, name: route } = entry.route;
    context.mismatches({ method, host, path, route, routeId, destination, result, ...difference });
  };
}
