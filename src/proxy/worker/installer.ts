// What the proxy runs on: the calling thread or a set of workers, with one way to install a configuration.
import type { Problem } from '../../model/problem.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { KnownStates } from '../explain/explained-destination.ts';
import type { ListenerStatus } from '../listener/listeners.ts';
import type { ConfigRole, RoleFigures } from '../shared/figures.ts';
import type { InstallTrace } from '../tracing/install-trace.ts';

export interface Installer {
  /** How many threads serve. */
  readonly size: number;
  /** How many of them serve what was installed last: one that has fallen does not until another takes its place. */
  readonly serving: number;
  /**
   * Resolves when it is in force and every thread's listeners are settled, with what had to be closed; rejects with
   * Refusal when a thread cannot compile it.
   */
  install(config: ProxyConfig, onThreadDone: () => void, trace?: InstallTrace): Promise<readonly Problem[]>;
  /** Tries again to open what is `waiting` for its port, beside everything that is open. */
  reopen(): Promise<void>;
  /** Access logs go on in new files where theirs were moved away. */
  reopenLogs(): void;
  listeners(): readonly ListenerStatus[];
  /** What is known of upstreams now. */
  readonly known: KnownStates;
  /** What all threads together have served since the start. */
  figures(role: ConfigRole): RoleFigures;
  close(withinMs: number): Promise<void>;
}
