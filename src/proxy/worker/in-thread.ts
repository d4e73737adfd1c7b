// The engine in the calling thread: one process without workers, and tests.
import type { Clock } from '../../clock.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { ListenerStatus } from '../listener/listeners.ts';
import { OwnCount } from '../shared/connection-counts.ts';
import { type BodyLimits, Engine } from './engine.ts';
import type { Installer } from './installer.ts';
import { Turns } from './turns.ts';

export interface InThreadOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly bindAddress: string | undefined;
  readonly limits: BodyLimits;
}

export class InThread implements Installer {
  readonly size = 1;
  readonly serving = 1;
  readonly #engine: Engine;
  readonly #turns = new Turns();
  #generation = 0;

  constructor(options: InThreadOptions) {
    this.#engine = new Engine({
      ...options,
      shared: false,
      limitOf: () => new OwnCount(),
      generation: () => this.#generation,
    });
  }

  install(config: ProxyConfig, onThreadDone: () => void): Promise<void> {
    return this.#turns.take(async () => {
      await this.#engine.prepare(this.#generation + 1, config);
      this.#generation++;
      await this.#engine.commit([]);
      onThreadDone();
    });
  }

  reopen(): Promise<void> {
    return this.#turns.take(async () => {
      if (this.listeners().some(({ state }) => state === 'waiting')) await this.#engine.commit([]);
    });
  }

  listeners(): readonly ListenerStatus[] {
    return this.#engine.listeners();
  }

  close(withinMs: number): Promise<void> {
    return this.#turns.take(() => this.#engine.close(withinMs));
  }
}
