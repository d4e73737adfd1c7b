// The engine in the calling thread: one process without workers, and tests.
import type { Cancel, Clock } from '../../clock.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { ListenerStatus } from '../listener/listeners.ts';
import { Exposition, noStates, renderInSlices } from '../metrics/exposition.ts';
import { type ConfigRole, Figures, type RoleFigures } from '../metrics/figures.ts';
import { MetricBlock, newMetricBytes } from '../metrics/metric-block.ts';
import { OwnCount } from '../shared/connection-counts.ts';
import { TicketSecrets } from '../shared/ticket-secrets.ts';
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
  readonly #figures = new Figures();
  readonly #stopRotating: Cancel;
  #generation = 0;

  constructor(options: InThreadOptions) {
    const tickets = new TicketSecrets();
    this.#stopRotating = tickets.keepRotating(options.clock);
    const bytes = newMetricBytes();
    const exposition = new Exposition();
    exposition.block(0, bytes);
    this.#engine = new Engine({
      ...options,
      tickets,
      shared: false,
      limitOf: () => new OwnCount(),
      metrics: new MetricBlock(bytes, {
        define: (series) => exposition.define(0, series),
        forget: (listener) => exposition.forget(0, listener),
      }),
      figures: this.#figures,
      scrape: (listener, collected) => renderInSlices(exposition, listener, collected, noStates),
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

  figures(role: ConfigRole): RoleFigures {
    return this.#figures.read(role);
  }

  close(withinMs: number): Promise<void> {
    this.#stopRotating();
    return this.#turns.take(() => this.#engine.close(withinMs));
  }
}
