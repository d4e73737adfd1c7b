// The data plane as the rest of the program sees it: it takes configurations from a source and serves the latest.
// Made by main.ts; `installed` tells the activation of a snapshot when its configuration is live.
import type { Cancel, Clock } from '../clock.ts';
import { describe } from '../model/problem.ts';
import type { ConfigSource, Configuration, ProxyConfig } from '../model/proxy-config.ts';
import type { Telemetry } from '../telemetry/logger.ts';
import { type ConfigCheck, checkConfig } from './config-check.ts';
import type { Installed } from './decision.ts';
import { type ListenerStatus, Listeners } from './listener/listeners.ts';
import { buildTable } from './table.ts';
import { NameLookup } from './upstream/name-lookup.ts';
import { Upstreams } from './upstream/upstreams.ts';
import { Wheel } from './wheel.ts';

export interface ProxyOptions {
  readonly source: ConfigSource;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Takes the place of every listener's own address. */
  readonly bindAddress?: string | undefined;
  /** Asked before each install; a configuration with problems is refused and the former one stays. */
  readonly check?: ((configuration: Configuration) => ConfigCheck) | undefined;
}

export interface Proxy {
  /** Begins to take configurations. Resolves when the one the source has at that moment, if any, is installed. */
  start(): Promise<void>;
  /** Stops accepting, lets exchanges finish, cuts what is left after `withinMs`. */
  close(options: { readonly withinMs: number }): Promise<void>;
  /**
   * Resolves once a configuration with this index or a higher one is live, its listeners bound, or after `withinMs`.
   * `done` of `of` workers have it.
   */
  installed(index: number, withinMs: number): Promise<{ readonly done: number; readonly of: number }>;
  listeners(): readonly ListenerStatus[];
}

export function createProxy(options: ProxyOptions): Proxy {
  return new InProcessProxy(options);
}

const drainMsMax = 30_000;

class InProcessProxy implements Proxy {
  readonly #source: ConfigSource;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #check: (configuration: Configuration) => ConfigCheck;
  readonly #listeners: Listeners;
  readonly #upstreams: Upstreams;
  readonly #waiting = new Set<() => void>();
  #installed: Installed;
  /** Index of the newest configuration taken up; invariant: liveIndex <= index. */
  #index = -1;
  /** Index of the newest one whose listeners are settled. */
  #liveIndex = -1;
  #installing: Promise<void> = Promise.resolve();
  #unsubscribe: Cancel = () => {};

  constructor({ source, clock, telemetry, bindAddress, check = checkConfig }: ProxyOptions) {
    this.#source = source;
    this.#clock = clock;
    this.#telemetry = telemetry;
    this.#check = check;
    const wheel = new Wheel(clock);
    this.#upstreams = new Upstreams({ wheel, names: new NameLookup(clock) });
    this.#installed = { table: { match: () => undefined }, upstreams: this.#upstreams };
    this.#listeners = new Listeners({
      installed: () => this.#installed,
      clock,
      wheel,
      telemetry,
      bindAddress,
      drainMsMax,
    });
  }

  async start(): Promise<void> {
    this.#unsubscribe = this.#source.subscribe((config) => this.#take(config));
    await this.#installing;
  }

  async close({ withinMs }: { readonly withinMs: number }): Promise<void> {
    this.#unsubscribe();
    await this.#installing;
    await this.#listeners.close(withinMs);
    this.#upstreams.close();
  }

  async installed(index: number, withinMs: number): Promise<{ done: number; of: number }> {
    if (this.#liveIndex < index) await this.#reached(index, withinMs);
    return { done: this.#liveIndex >= index ? 1 : 0, of: 1 };
  }

  listeners(): readonly ListenerStatus[] {
    return this.#listeners.status();
  }

  #take(config: ProxyConfig): void {
    const { logger } = this.#telemetry;
    if (config.index <= this.#index) {
      logger.debug({ index: config.index, installed: this.#index }, 'a configuration that is not newer is passed over');
      return;
    }
    const { problems, warnings } = this.#check(config.snapshot);
    if (problems.length > 0) {
      logger.error(
        { snapshot: config.id, problems: describe(problems) },
        'a snapshot cannot be installed, the former one stays',
      );
      return;
    }
    if (warnings.length > 0)
      logger.warn({ snapshot: config.id, warnings: describe(warnings) }, 'a snapshot uses what is not available');
    this.#index = config.index;
    this.#upstreams.install(config.snapshot.destinations);
    this.#installed = { table: buildTable(config.snapshot), upstreams: this.#upstreams };
    this.#installing = this.#installing.then(() => this.#settle(config));
  }

  async #settle(config: ProxyConfig): Promise<void> {
    if (config.index === this.#index) await this.#listeners.install(config.snapshot.listeners);
    if (config.index !== this.#index) return;
    this.#liveIndex = config.index;
    this.#telemetry.logger.info({ snapshot: config.id, index: config.index }, 'a snapshot is live');
    for (const wake of this.#waiting) wake();
  }

  #reached(index: number, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#waiting.delete(look);
        resolve();
      };
      const look = (): void => {
        if (this.#liveIndex >= index) done();
      };
      const cancel = this.#clock.after(withinMs, done);
      this.#waiting.add(look);
    });
  }
}
