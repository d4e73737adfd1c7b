// The engine in the calling thread: one process without workers, and tests.
import type { Cancel, Clock } from '../../clock.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { ListenerStatus } from '../listener/listeners.ts';
import { Exposition, noStates, renderInSlices } from '../metrics/exposition.ts';
import { type ConfigRole, Figures, type RoleFigures } from '../metrics/figures.ts';
import { MetricBlock, newMetricBytes } from '../metrics/metric-block.ts';
import { OwnCount } from '../shared/connection-counts.ts';
import { TicketSecrets } from '../shared/ticket-secrets.ts';
import type { BodyLimits } from './body-limits.ts';
import { CommonParts } from './common-services.ts';
import { Engine } from './engine.ts';
import type { Installer } from './installer.ts';
import { MiddlewareDesk } from './middleware-desk.ts';
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
  readonly #desk: MiddlewareDesk;
  readonly #common: CommonParts;
  readonly #turns = new Turns();
  readonly #figures = new Figures();
  readonly #stopRotating: Cancel;
  #generation = 0;

  constructor(options: InThreadOptions) {
    const { clock, telemetry } = options;
    const tickets = new TicketSecrets();
    this.#stopRotating = tickets.keepRotating(clock);
    const desk = new MiddlewareDesk(clock, telemetry.logger, (id, document) => this.#common.keys.hear(id, document));
    this.#desk = desk;
    this.#common = new CommonParts({
      clock,
      seed: desk.seed,
      offsetMs: -clock.monotonicMs(),
      wantKeys: (id) => desk.askForKeys(id),
      sendLines: (batch) => desk.write(batch, () => this.#common.lines.written(batch.path, batch.text.length)),
    });
    const bytes = newMetricBytes();
    const exposition = new Exposition();
    exposition.block(0, bytes);
    this.#engine = new Engine({
      ...options,
      common: this.#common.services,
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

  install(config: ProxyConfig, onThreadDone: () => void): Promise<readonly Problem[]> {
    return this.#turns.take(async () => {
      this.#common.blocks = this.#desk.blocksFor(config.snapshot);
      const problems = await this.#engine.prepare(this.#generation + 1, config);
      this.#desk.follow(config.snapshot);
      this.#generation++;
      await this.#engine.commit([]);
      onThreadDone();
      return problems;
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

  reopenLogs(): void {
    this.#desk.reopenLogs();
  }

  figures(role: ConfigRole): RoleFigures {
    return this.#figures.read(role);
  }

  close(withinMs: number): Promise<void> {
    this.#stopRotating();
    return this.#turns.take(async () => {
      await this.#engine.close(withinMs);
      this.#common.lines.flush();
      await this.#desk.close();
    });
  }
}
