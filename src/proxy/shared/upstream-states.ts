// The shared rows of all destinations and endpoints: main gives them out and keeps the book, each thread looks at its
// own view of them.
import { DestinationState, destinationShape } from './destination-state.ts';
import { EndpointState, endpointShape } from './endpoint-state.ts';
import { RowBook } from './row-book.ts';
import { SharedRows } from './shared-rows.ts';

/** What can be posted to a thread so that it finds the rows of a configuration. */
export interface UpstreamRows {
  readonly destinationSegments: readonly SharedArrayBuffer[];
  readonly endpointSegments: readonly SharedArrayBuffer[];
  /** Row by destination id. */
  readonly destinations: ReadonlyMap<string, number>;
  /** Row by `endpointKey`. */
  readonly endpoints: ReadonlyMap<string, number>;
}

/** A destination and the names of its endpoints. */
export interface RowsWanted {
  readonly id: string;
  readonly endpoints: readonly string[];
}

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

  destination(id: string): DestinationState {
    return new DestinationState(this.#destinationRows.row(given(this.#destinations.get(id)), this.#place));
  }

  endpoint(id: string, name: string): EndpointState {
    return new EndpointState(this.#endpointRows.row(given(this.#endpoints.get(endpointKey(id, name))), this.#place));
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
  readonly #destinations: RowBook;
  readonly #endpoints: RowBook;

  constructor(threads: number) {
    this.#destinationRows = new SharedRows(destinationShape, threads);
    this.#endpointRows = new SharedRows(endpointShape, threads);
    this.#destinations = new RowBook(this.#destinationRows);
    this.#endpoints = new RowBook(this.#endpointRows);
  }

  /** Rows for all of these; what has one already keeps it. */
  assign(wanted: Iterable<RowsWanted>): UpstreamRows {
    const destinations = new Map<string, number>();
    const endpoints = new Map<string, number>();
    for (const { id, endpoints: names } of wanted) {
      destinations.set(id, this.#destinations.rowOf(id));
      for (const name of names) {
        const key = endpointKey(id, name);
        endpoints.set(key, this.#endpoints.rowOf(key));
      }
    }
    return {
      destinationSegments: [...this.#destinationRows.segments],
      endpointSegments: [...this.#endpointRows.segments],
      destinations,
      endpoints,
    };
  }

  /** Takes back all rows but those of `kept`, and those in which somebody counts. */
  keep(kept: readonly UpstreamRows[]): void {
    this.#destinations.keep(new Set(kept.flatMap(({ destinations }) => [...destinations.keys()])));
    const endpoints = new Set(kept.flatMap((rows) => [...rows.endpoints.keys()]));
    // Somebody who is under way to a destination may still pick any of its endpoints.
    for (const [key] of this.#endpoints.entries()) {
      const id = key.slice(0, key.indexOf(' '));
      if (!kept.some(({ destinations }) => destinations.has(id)) && this.#destinations.find(id) !== undefined) {
        endpoints.add(key);
      }
    }
    this.#endpoints.keep(endpoints);
  }

  /** Endpoints that have a row without being in `rows`: to be told apart before they go. */
  *leaving(rows: UpstreamRows): Generator<{ readonly id: string; readonly state: EndpointState }> {
    for (const [key, row] of this.#endpoints.entries()) {
      if (rows.endpoints.has(key)) continue;
      yield { id: key.slice(0, key.indexOf(' ')), state: new EndpointState(row) };
    }
  }

  /** The state of a destination that has a row, whether or not a configuration names it. */
  find(id: string): DestinationState | undefined {
    const row = this.#destinations.find(id);
    return row === undefined ? undefined : new DestinationState(this.#destinationRows.row(row, 0));
  }

  /** The thread at `place` has fallen. */
  forget(place: number): void {
    for (const [, row] of this.#destinations.entries()) new DestinationState(row).forget(place);
    for (const [, row] of this.#endpoints.entries()) row.forget(place);
  }
}
