// Stream table: the stream routes of one configuration, by the listeners that they are bound to.
import type { Problem } from '../../model/problem.ts';
import { type Configuration, listOf } from '../../model/proxy-config.ts';
import type { ServedSection } from '../message/routed-request.ts';
import type { MiddlewareServices } from '../middleware/services.ts';
import { firstOf, StreamIndex } from './stream-index.ts';
import { compilePlan, type StreamPlan } from './stream-plan.ts';

/** Routes between two pauses. */
const stride = 64;

export interface CompiledStreams {
  readonly table: StreamTable;
  /** Parts that cannot be used, which close their routes. Pointers name entities by id. */
  readonly problems: readonly Problem[];
}

export class StreamTable {
  static readonly empty = new StreamTable();

  /** Routes by binding: `<listener>`, or `<listener>/<section>`. */
  readonly #bound = new Map<string, StreamIndex>();
  /** Routes that are bound to no listener, and so to all. */
  readonly #common = new StreamIndex();

  /** Compiles in steps. `services`: undefined where the table is not going to run. */
  static *of(configuration: Configuration, services: MiddlewareServices | undefined): Generator<void, CompiledStreams> {
    const routes = listOf(configuration, 'streamRoutes');
    if (routes.length === 0) return { table: StreamTable.empty, problems: [] };
    const table = new StreamTable();
    const middlewares = new Map(configuration.middlewares.map((middleware) => [middleware.id, middleware]));
    const problems: Problem[] = [];
    const sorted = routes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    yield;
    for (const [at, route] of sorted.entries()) {
      const compiled = compilePlan(route, { middlewares, services });
      problems.push(...compiled.problems);
      const { listenerIds = [], sni = [], clientCidrs = [] } = route.match ?? {};
      for (const index of table.#indexesOf(listenerIds)) index.add(compiled.plan, sni, clientCidrs);
      if (at % stride === 0) yield;
    }
    return { table, problems };
  }

  /**
   * Returns the route of a connection in that section of its listener.
   * @param serverName in lower case and without a last dot; empty: none
   */
  find(section: ServedSection, serverName: string, clientIp: string): StreamPlan | undefined {
    if (!section.isServed) return undefined;
    const { ofListener, ofSection } = section;
    const bound = [this.#bound.get(ofListener), ofSection === '' ? undefined : this.#bound.get(ofSection)];
    return firstOf([...bound, this.#common], serverName, clientIp);
  }

  #indexesOf(listenerIds: readonly string[]): StreamIndex[] {
    if (listenerIds.length === 0) return [this.#common];
    return listenerIds.map((binding) => {
      const known = this.#bound.get(binding) ?? new StreamIndex();
      this.#bound.set(binding, known);
      return known;
    });
  }
}
