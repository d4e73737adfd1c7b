// Health prober for the endpoints of every destination with health checks (contract.md §7.10): one per process, in
// main, for all workers. Results are stored in the shared row of each endpoint.

import type { Logger } from '../../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../../util/clock.ts';
import type { DestinationState } from '../../shared/destination-state.ts';
import type { EndpointState } from '../../shared/endpoint-state.ts';
import type { ProbePlan, ProbeResult, ProbeTarget } from './probe.ts';

export interface HealthPlan extends ProbePlan {
  /** Milliseconds from the start of one probe to that of the next. */
  readonly intervalMs: number;
  /** In a row. */
  readonly unhealthyThreshold: number;
  readonly healthyThreshold: number;
}

interface ProbedEndpoint extends ProbeTarget {
  readonly state: EndpointState;
}

export interface ProbedDestination {
  readonly id: string;
  readonly plan: HealthPlan;
  /** The same for the same plan. */
  readonly planText: string;
  readonly state: DestinationState;
  readonly endpoints: readonly ProbedEndpoint[];
}

export interface ProberTools {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly probe: (target: ProbeTarget, plan: ProbePlan) => Promise<ProbeResult>;
}

/** The first probes of an activation are spread over this time. */
const firstWithinMs = 500;

export class HealthProber {
  readonly #tools: ProberTools;
  #watched = new Map<string, Watch>();

  constructor(tools: ProberTools) {
    this.#tools = tools;
  }

  /** From now on these are probed and no others. What is as it was goes on as it was. */
  follow(destinations: readonly ProbedDestination[]): void {
    const watched = new Map<string, Watch>();
    const fresh: Watch[] = [];
    for (const destination of destinations) {
      for (const endpoint of destination.endpoints) {
        const key = keyOf(destination.id, endpoint.name);
        const known = this.#watched.get(key);
        if (known?.planText === destination.planText) {
          watched.set(key, known);
          this.#watched.delete(key);
        } else if (!watched.has(key)) {
          const watch = new Watch(destination, endpoint, this.#tools);
          watched.set(key, watch);
          fresh.push(watch);
        }
      }
    }
    for (const gone of this.#watched.values()) gone.end();
    this.#watched = watched;
    fresh.forEach((watch, i) => {
      watch.begin((firstWithinMs * i) / fresh.length);
    });
  }

  /** Returns why the last probe of an endpoint failed; undefined where it passed, or where there was none. */
  reasonOf(destination: string, endpoint: string): string | undefined {
    return this.#watched.get(keyOf(destination, endpoint))?.reason;
  }

  close(): void {
    this.follow([]);
  }
}

const keyOf = (destination: string, endpoint: string): string => `${destination} ${endpoint}`;

/** Follows one endpoint. */
class Watch {
  readonly planText: string;
  /** Reason of the last probe where it failed. */
  reason: string | undefined;
  readonly #destination: ProbedDestination;
  readonly #endpoint: ProbedEndpoint;
  readonly #tools: ProberTools;
  #inARow = 0;
  #cancel: Cancel = () => {};
  #over = false;

  constructor(destination: ProbedDestination, endpoint: ProbedEndpoint, tools: ProberTools) {
    this.planText = destination.planText;
    this.#destination = destination;
    this.#endpoint = endpoint;
    this.#tools = tools;
  }

  begin(delayMs: number): void {
    this.#cancel = this.#tools.clock.after(delayMs, () => void this.#probe());
  }

  end(): void {
    this.#over = true;
    this.#cancel();
  }

  async #probe(): Promise<void> {
    const { clock, probe } = this.#tools;
    const { plan } = this.#destination;
    const startedMs = clock.monotonicMs();
    const verdict = await probe(this.#endpoint, plan);
    if (this.#over) return;
    this.reason = verdict;
    this.#apply(verdict);
    this.begin(Math.max(0, plan.intervalMs - (clock.monotonicMs() - startedMs)));
  }

  /** Applies the result of a probe. A result that agrees with the state resets the count of consecutive ones. */
  #apply(verdict: ProbeResult): void {
    const { state, name } = this.#endpoint;
    const { plan, id } = this.#destination;
    const passed = verdict === undefined;
    if (passed === state.healthy) {
      this.#inARow = 0;
      return;
    }
    if (++this.#inARow < (passed ? plan.healthyThreshold : plan.unhealthyThreshold)) return;
    this.#inARow = 0;
    state.healthy = passed;
    this.#destination.state.touch();
    const fields = { destination: id, endpoint: name };
    if (passed) this.#tools.logger.info(fields, 'an endpoint passes its health checks again');
    else this.#tools.logger.warn({ ...fields, reason: verdict }, 'an endpoint fails its health checks');
  }
}
