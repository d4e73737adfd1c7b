// The shared rows of all destinations and endpoints: main gives them out and keeps the book, each thread looks at its
// own view of them.
import { DestinationState, destinationShape } from './destination-state.ts';
import { EndpointState, endpointShape } from './endpoint-state.ts';
import { SharedRows } from './shared-rows.ts';
import { SlotAllocator } from './slot-allocator.ts';

/** References to the rows of a configuration, to be posted to a thread. */
export interface UpstreamRows {
  readonly destinationSegments: readonly SharedArrayBuffer[];
  readonly endpointSegments: readonly SharedArrayBuffer[];
  /** Row by destination id. */
  readonly destinations: ReadonlyMap<string, number>;
  /** Row by `endpointKey`. */
  readonly endpoints: ReadonlyMap<string, number>;
  /** Key by destination id, see RowsWanted. */
  readonly keys: ReadonlyMap<string, string>;
}

/** The same for the endpoints of one destination. */
export interface EndpointRows {
  readonly segments: readonly SharedArrayBuffer[];
  /** Row by name. */
  readonly rows: ReadonlyMap<string, number>;
}

/** A destination and the names of its endpoints. */
export interface RowsWanted {
  readonly id: string;
  /** Tells it from another of that id, in another configuration that is served beside this one. Default: the id. */
  readonly key?: string;
  readonly endpoints: readonly string[];
}

const keyOf = ({ id, key = id }: RowsWanted): string => key;

/** Ids have no spaces. */
const endpointKey = (id: string, name: string): string => `${id} ${name}`;

export class UpstreamStates {
  readonly #destinationRows: SharedRows;
  readonly #endpointRows: SharedRows;
  readonly #place: number;
  #destinations: ReadonlyMap<string, number> = new Map();
  #endpoints: ReadonlyMap<string, number> = new Map();

  /** As the thread at `place` of so many counts. */
  constructor(threads: number, place: number) {
    this.#destinationRows = new SharedRows(destinationShape, threads);
    this.#endpointRows = new SharedRows(endpointShape, threads);
    this.#place = place;
  }

  adopt(rows: UpstreamRows): void {
    this.#destinationRows.adopt(rows.destinationSegments);
    this.#endpointRows.adopt(rows.endpointSegments);
    this.#destinations = rows.destinations;
    this.#endpoints = rows.endpoints;
  }

  /** A destination has other endpoints than before. */
  extend(id: string, { segments, rows }: EndpointRows): void {
    this.#endpointRows.adopt(segments);
    const endpoints = new Map(this.#endpoints);
    for (const [name, row] of rows) endpoints.set(endpointKey(id, name), row);
    this.#endpoints = endpoints;
  }

  destination(id: string): DestinationState {
    return new DestinationState(this.#destinationRows.row(given(this.#destinations.get(id)), this.#place));
  }

  endpoint(id: string, name: string): EndpointState {
    return new EndpointState(this.#endpointRows.row(given(this.#endpoints.get(endpointKey(id, name))), this.#place));
  }

  /** Tells whether two configurations mean the same by the id. */
  rowOf(id: string): number {
    return given(this.#destinations.get(id));
  }

  findDestination(id: string): DestinationState | undefined {
    return this.#destinations.has(id) ? this.destination(id) : undefined;
  }

  findEndpoint(id: string, name: string): EndpointState | undefined {
    return this.#endpoints.has(endpointKey(id, name)) ? this.endpoint(id, name) : undefined;
  }
}

function given(row: number | undefined): number {
  if (row === undefined) throw new Error('main has given out no row for it');
  return row;
}

/** Main's book. */
export class UpstreamBook {
  readonly #destinationRows: SharedRows;
  readonly #endpointRows: SharedRows;
  readonly #destinations: SlotAllocator;
  readonly #endpoints: SlotAllocator;

  constructor(threads: number) {
    this.#destinationRows = new SharedRows(destinationShape, threads);
    this.#endpointRows = new SharedRows(endpointShape, threads);
    this.#destinations = new SlotAllocator(this.#destinationRows);
    this.#endpoints = new SlotAllocator(this.#endpointRows);
  }

  /** Rows for all of these; what has one already keeps it. */
  assign(wanted: Iterable<RowsWanted>): UpstreamRows {
    const destinations = new Map<string, number>();
    const endpoints = new Map<string, number>();
    const keys = new Map<string, string>();
    for (const each of wanted) {
      const { id, endpoints: names } = each;
      const key = keyOf(each);
      keys.set(id, key);
      destinations.set(id, this.#destinations.rowOf(key));
      for (const name of names) {
        endpoints.set(endpointKey(id, name), this.#endpoints.rowOf(endpointKey(key, name)));
      }
    }
    return {
      destinationSegments: [...this.#destinationRows.segments],
      endpointSegments: [...this.#endpointRows.segments],
      destinations,
      endpoints,
      keys,
    };
  }

  /** Rows for these endpoints of one destination. */
  endpointRows(key: string, names: readonly string[]): EndpointRows {
    const rows = new Map(names.map((name) => [name, this.#endpoints.rowOf(endpointKey(key, name))]));
    return { segments: [...this.#endpointRows.segments], rows };
  }

  /** Takes back all rows but those of `kept`, and those in which a thread counts. */
  keep(kept: Iterable<RowsWanted>): void {
    const destinations = new Set<string>();
    const endpoints = new Set<string>();
    for (const each of kept) {
      const key = keyOf(each);
      destinations.add(key);
      for (const name of each.endpoints) endpoints.add(endpointKey(key, name));
    }
    this.#destinations.keep(destinations);
    // An exchange under way to a destination may still pick any of its endpoints.
    for (const [endpoint] of this.#endpoints.entries()) {
      const key = endpoint.slice(0, endpoint.indexOf(' '));
      if (!destinations.has(key) && this.#destinations.find(key) !== undefined) endpoints.add(endpoint);
    }
    this.#endpoints.keep(endpoints);
  }

  /** Endpoints that have a row without being in `kept`, by key of their destination. Read before they are taken back. */
  *leaving(kept: Iterable<RowsWanted>): Generator<{ readonly key: string; readonly state: EndpointState }> {
    const endpoints = new Set<string>();
    for (const each of kept) for (const name of each.endpoints) endpoints.add(endpointKey(keyOf(each), name));
    for (const [endpoint, row] of this.#endpoints.entries()) {
      if (endpoints.has(endpoint)) continue;
      yield { key: endpoint.slice(0, endpoint.indexOf(' ')), state: new EndpointState(row) };
    }
  }

  /** The state of a destination that has a row, whether or not a configuration names it. */
  find(key: string): DestinationState | undefined {
    const row = this.#destinations.find(key);
    return row === undefined ? undefined : new DestinationState(this.#destinationRows.row(row, 0));
  }

  /** The thread at `place` has crashed. */
  forget(place: number): void {
    for (const [, row] of this.#destinations.entries()) new DestinationState(row).forget(place);
    for (const [, row] of this.#endpoints.entries()) row.forget(place);
  }
}
