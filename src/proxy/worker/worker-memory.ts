// Memory that main shares with its workers: metrics, figures and vitals of each one, and the counts, keys and tables
// that all of them use. It outlives a worker: the next one at the same place goes on in it.
import type { DataPlaneSettings } from '../../settings/data-plane-settings.ts';
import { newVitalBytes, readVitals, type ThreadVitals } from '../../telemetry/thread-vitals.ts';
import type { UpstreamFigures } from '../../telemetry/upstream-metrics.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { newMetricBytes } from '../metrics/metric-block.ts';
import { RequestRing, type RingShape } from '../requests/request-ring.ts';
import { ClientLoad } from '../shared/client-load.ts';
import { CookieRing } from '../shared/cookie-ring.ts';
import { type ConfigRole, Figures, newFigureBytes, type RoleFigures, sumOfFigures } from '../shared/figures.ts';
import { ListenerLoads } from '../shared/listener-loads.ts';
import { PlacementTable } from '../shared/placement-table.ts';
import { StoreReach } from '../shared/store-reach.ts';
import { TicketSecrets } from '../shared/ticket-secrets.ts';
import type { WorkerStart } from './protocol.ts';

/** Memory of the worker at one place. */
type OwnMemory = Pick<WorkerStart, 'metrics' | 'figures' | 'vitals'>;

/** Memory of all workers, as each of them gets it. */
type CommonMemory = Pick<
  WorkerStart,
  'clients' | 'generation' | 'tickets' | 'ring' | 'storeReach' | 'placements' | 'cookieRing'
>;

export class WorkerMemory {
  readonly clients: ClientLoad;
  readonly listenerLoads: ListenerLoads;
  readonly cookieRing = new CookieRing();
  readonly #generation = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #storeReach: StoreReach;
  readonly #stopRotating: Cancel;
  readonly #own: readonly OwnMemory[];
  readonly #common: CommonMemory;

  constructor({ workers: count, sessionStore }: DataPlaneSettings, ring: RingShape | undefined, clock: Clock) {
    this.clients = new ClientLoad(ClientLoad.memory(count), 0);
    this.listenerLoads = new ListenerLoads(count);
    this.#storeReach = StoreReach.of(count);
    const tickets = new TicketSecrets();
    this.#stopRotating = tickets.keepRotating(clock);
    this.#own = Array.from({ length: count }, newOwnMemory);
    this.#common = {
      clients: this.clients.buffer,
      generation: this.#generation.buffer,
      tickets: tickets.buffer,
      ring,
      storeReach: this.#storeReach.buffer,
      placements: sessionStore && new PlacementTable().buffer,
      cookieRing: this.cookieRing.buffer,
    };
  }

  /** Number of the generation in force; workers read it with each request. */
  get generation(): number {
    return Atomics.load(this.#generation, 0);
  }

  set generation(number: number) {
    Atomics.store(this.#generation, 0, number);
  }

  /** Returns the memory that the worker at `place` gets. */
  of(place: number): CommonMemory & OwnMemory {
    return { ...this.#common, ...(this.#own[place] ?? newOwnMemory()) };
  }

  /** Metrics of the workers, in the order of their places. */
  metricBytes(): readonly SharedArrayBuffer[] {
    return this.#own.map(({ metrics }) => metrics);
  }

  /** Figures of the traffic that all workers together have served since the start. */
  figures(role: ConfigRole): RoleFigures {
    return sumOfFigures(this.#own.map(({ figures }) => new Figures(figures).read(role)));
  }

  /** Vitals of each worker, in the order of their places. */
  vitals(): readonly ThreadVitals[] {
    return this.#own.map(({ vitals }) => readVitals(vitals));
  }

  /** Reachability of the store of sessions by worker, those that use none left out. */
  stores(): UpstreamFigures['stores'] {
    return this.#storeReach.read().map(({ place, reached }) => ({ thread: `worker ${place + 1}`, reached }));
  }

  /** Takes back what the worker at `place`, which has ended, held of the memory of all. */
  forget(place: number): void {
    this.clients.forget(place);
    this.listenerLoads.forget(place);
    const { ring } = this.#common;
    if (ring !== undefined) new RequestRing(ring).release(place);
  }

  close(): void {
    this.#stopRotating();
  }
}

const newOwnMemory = (): OwnMemory => ({
  metrics: newMetricBytes(),
  figures: newFigureBytes(),
  vitals: newVitalBytes(),
});
