// Takes endpoints out of service that keep failing (contract.md §7.11). Threads count what they see in the shared row
// of each endpoint and eject at once; main brings endpoints back.
import type { Clock } from '../../util/clock.ts';
import type { DestinationState } from '../shared/destination-state.ts';
import type { EndpointState } from '../shared/endpoint-state.ts';

export interface OutlierLimits {
  /** Responses of 500 and more in a row; 0: off. */
  readonly serverErrorsMax: number;
  /** Responses 502, 503, 504 in a row; 0: off. */
  readonly gatewayErrorsMax: number;
  /** Milliseconds between two looks for endpoints to bring back, at most `sweepMsMax`. */
  readonly sweepMs: number;
  /** Milliseconds, times the number of ejections. */
  readonly baseEjectionMs: number;
  /** 0…100. */
  readonly ejectedPercentMax: number;
}

export const sweepMsMax = 1_000;

/** Longest ejection, unless the first one is longer. */
const ejectionMsMax = 300_000;

/** Limits of a destination without outlier detection: consecutive errors are counted all the same, for the metrics. */
export const noEjections: OutlierLimits = {
  serverErrorsMax: 0,
  gatewayErrorsMax: 0,
  sweepMs: sweepMsMax,
  baseEjectionMs: 0,
  ejectedPercentMax: 0,
};

export class OutlierDetector {
  readonly limits: OutlierLimits;
  readonly #destination: DestinationState;
  readonly #ejectedMax: number;
  readonly #clock: Clock;

  /** `endpoints`: how many the destination has. */
  constructor(destination: DestinationState, endpoints: number, limits: OutlierLimits, clock: Clock) {
    this.limits = limits;
    this.#destination = destination;
    this.#clock = clock;
    this.#ejectedMax = endpoints < 2 ? 0 : Math.max(1, Math.floor((endpoints * limits.ejectedPercentMax) / 100));
  }

  /** An attempt is over. A failure of transport counts as 502, one of time as 504. */
  observe(endpoint: EndpointState, status: number): void {
    if (status < 500) {
      endpoint.forgiveErrors();
      return;
    }
    const { serverErrorsMax, gatewayErrorsMax } = this.limits;
    const serverErrors = endpoint.addServerError();
    const gatewayErrors = status >= 502 && status <= 504 ? endpoint.addGatewayError() : endpoint.gatewayErrors;
    const tooMany = serverErrorsMax > 0 && serverErrors >= serverErrorsMax;
    if (tooMany || (gatewayErrorsMax > 0 && gatewayErrors >= gatewayErrorsMax)) this.#eject(endpoint);
  }

  /** Main: the pool, or what may be ejected of it, may have become smaller. Those come back first whose time is nearest. */
  settle(endpoints: readonly EndpointState[]): void {
    const ejected = endpoints.filter((endpoint) => endpoint.ejected);
    if (ejected.length <= this.#ejectedMax) return;
    ejected.sort((a, b) => a.ejectedUntilMs - b.ejectedUntilMs);
    for (const endpoint of ejected.slice(0, ejected.length - this.#ejectedMax)) restore(this.#destination, endpoint);
  }

  /** Main: brings back those whose time has come. */
  sweep(endpoints: Iterable<EndpointState>): void {
    if (this.#destination.ejected === 0) return;
    const now = this.#clock.monotonicMs();
    for (const endpoint of endpoints) {
      if (endpoint.ejected && now >= endpoint.ejectedUntilMs) restore(this.#destination, endpoint);
    }
  }

  /** Duration of an ejection, bounded: an endpoint that failed often over months must not stay away for hours. */
  #ejectionMs(ejections: number): number {
    const { baseEjectionMs } = this.limits;
    return Math.min(baseEjectionMs * ejections, Math.max(baseEjectionMs, ejectionMsMax));
  }

  #eject(endpoint: EndpointState): void {
    const destination = this.#destination;
    if (endpoint.ejected || destination.ejected >= this.#ejectedMax || !destination.tryLock()) return;
    if (!endpoint.ejected && destination.ejected < this.#ejectedMax) {
      destination.ejected++;
      endpoint.ejectedUntilMs = this.#clock.monotonicMs() + this.#ejectionMs(endpoint.addEjection());
      endpoint.ejected = true;
      destination.touch();
    }
    destination.unlock();
  }
}

/**
 * Lets the endpoint serve again, or forgets one that the destination no longer has; main only. False: another thread
 * holds the lock.
 */
export function restore(destination: DestinationState, endpoint: EndpointState): boolean {
  if (!destination.tryLock()) return false;
  if (endpoint.ejected) {
    endpoint.forgiveErrors();
    endpoint.ejected = false;
    destination.ejected = Math.max(0, destination.ejected - 1);
    destination.touch();
  }
  destination.unlock();
  return true;
}
