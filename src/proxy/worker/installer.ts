// Installer of configurations: the calling thread or a set of workers, behind one interface.

import type { DrainedEndpoint } from '../../model/drained-endpoint.ts';
import type { Problem } from '../../model/problem.ts';
import type { Candidate, ProxyConfig } from '../../model/proxy-config.ts';
import type { LeaseFigures } from '../../telemetry/lease-metrics.ts';
import type { ThreadVitals } from '../../telemetry/thread-vitals.ts';
import type { UpstreamFigures } from '../../telemetry/upstream-metrics.ts';
import type { KnownStates } from '../explain/explained-destination.ts';
import type { ListenerStatus } from '../listener/listeners.ts';
import type { Collected } from '../metrics/families.ts';
import type { ClientFigures } from '../shared/client-load.ts';
import type { ConfigRole, RoleFigures } from '../shared/figures.ts';

export type Offer = Pick<Candidate, 'rollout' | 'key' | 'config'>;

export interface Installer {
  /** Number of threads. */
  readonly size: number;
  /**
   * Number of threads that serve the last installed configuration: a crashed thread counts again once its replacement
   * serves.
   */
  readonly serving: number;
  /**
   * Resolves when it is in force and every thread's listeners are settled, with what had to be closed; rejects with
   * Refusal when a thread cannot compile it. `onThreadDone` gets the place of each thread that has it.
   */
  install(config: ProxyConfig, onThreadDone: (place: number) => void): Promise<readonly Problem[]>;
  /**
   * Puts a candidate beside the configuration in force, without clients at first: `share` sets which clients it
   * serves. Resolves and rejects as `install`. One at a time.
   */
  offer(candidate: Offer): Promise<readonly Problem[]>;
  /**
   * Percent that the candidate serves from this moment on. `shadowSample`: of the requests that stable serves one in so
   * many is matched against the candidate; 0: none.
   */
  share(percent: number, shadowSample: number): void;
  /**
   * Makes the candidate the stable configuration, as `config` says, whose lists are its own. Nothing is compiled
   * again.
   */
  promote(config: ProxyConfig, onThreadDone: (place: number) => void): Promise<void>;
  /** Removes the candidate; it serves no client from this moment on. */
  withdraw(): Promise<void>;
  /** Endpoints that get no new requests from now on; all others do. */
  drain(endpoints: readonly DrainedEndpoint[]): void;
  /** Tries again to open what is `waiting` for its port, beside everything that is open. */
  reopen(): Promise<void>;
  /** Access logs go on in new files where theirs were moved away. */
  reopenLogs(): void;
  /** Number of lines of access logs that were lost since the start. */
  lostLogLines(): number;
  listeners(): readonly ListenerStatus[];
  /** State of upstreams now. */
  readonly known: KnownStates;
  /** Figures of the traffic that all threads together have served since the start. */
  figures(role: ConfigRole): RoleFigures;
  /** Vitals of each dedicated thread, in their order. */
  vitals(): readonly ThreadVitals[];
  upstreams(): UpstreamFigures;
  /** Parts that are held of budgets of the cluster. */
  leases(): LeaseFigures;
  /** Connections of clients, and what limits have closed. */
  clients(): ClientFigures;
  /** Returns the metrics of a listener, of all threads, as text. */
  expose(listener: string, collected: Collected): Promise<Uint8Array>;
  close(withinMs: number): Promise<void>;
}
