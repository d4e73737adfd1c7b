// Sums of traffic over the last 1, 10 and 60 whole seconds. The last minute is kept as a sum, to which each second is added
// once and taken away once; ten seconds are added up for the subjects that are asked about.
import { addCell, type CellData, TrafficCell } from '../model/traffic-cells.ts';

const secondsMax = 60;

const noTraffic: CellData = [0, 0, 0, []];

export type Cells = Map<string, TrafficCell>;

export interface Sums {
  readonly total: TrafficCell;
  readonly routes: Cells;
  readonly destinations: Cells;
}

export const newSums = (): Sums => ({ total: new TrafficCell(), routes: new Map(), destinations: new Map() });

export class SlidingSums {
  /** Newest last; the last one is under way. */
  readonly #seconds: Sums[] = [newSums()];
  readonly #sixty = newSums();

  /** Returns the second under way. */
  get current(): Sums {
    return this.#seconds.at(-1) ?? newSums();
  }

  /** Returns the last minute. */
  get minute(): Sums {
    return this.#sixty;
  }

  /** Returns the windows of one subject, the shortest first. */
  windowsOf(subject: (sums: Sums) => TrafficCell | undefined): readonly [CellData, CellData, CellData] {
    const last = this.#seconds.at(-2);
    const ten = new TrafficCell();
    for (const second of this.#seconds.slice(-11, -1)) {
      const cell = subject(second);
      if (cell !== undefined) ten.add(cell.data);
    }
    const one = last && subject(last);
    return [one?.data ?? noTraffic, ten.data, subject(this.#sixty)?.data ?? noTraffic];
  }

  /** Ends the second under way. */
  turn(): void {
    const { current } = this;
    addSums(this.#sixty, current, 1);
    this.#seconds.push(newSums());
    if (this.#seconds.length <= secondsMax + 1) return;
    const oldest = this.#seconds.shift();
    if (oldest !== undefined) addSums(this.#sixty, oldest, -1);
  }
}

export function cellAt(cells: Cells, subject: string): TrafficCell {
  let cell = cells.get(subject);
  if (cell === undefined) {
    cell = new TrafficCell();
    cells.set(subject, cell);
  }
  return cell;
}

/** Adds lists of cells, as reports carry them. */
export function addLists(
  sums: Sums,
  { routes, destinations }: Record<'routes' | 'destinations', readonly (readonly [string, CellData])[]>,
): void {
  for (const [id, data] of routes) addCell(sums.routes, id, data);
  for (const [id, data] of destinations) addCell(sums.destinations, id, data);
}

function addSums(sums: Sums, second: Sums, factor: number): void {
  sums.total.add(second.total.data, factor);
  for (const [id, { data }] of second.routes) addCell(sums.routes, id, data, factor);
  for (const [id, { data }] of second.destinations) addCell(sums.destinations, id, data, factor);
}
