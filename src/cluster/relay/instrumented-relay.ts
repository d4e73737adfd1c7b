// Relay with counters.
import type { Clock } from '../../util/clock.ts';
import type { Relay } from './relayed-write.ts';

export interface RelayObserver {
  relayed(outcome: 'applied' | 'not_applied' | 'unknown', ms: number): void;
}

export const measuredRelay = (relay: Relay, observer: RelayObserver, clock: Pick<Clock, 'monotonicMs'>): Relay => ({
  async send(request) {
    const fromMs = clock.monotonicMs();
    const result = await relay.send(request);
    const outcome = result.outcome === 'not-applied' ? 'not_applied' : result.outcome;
    observer.relayed(outcome, clock.monotonicMs() - fromMs);
    return result;
  },
});
