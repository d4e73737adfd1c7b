// Sums of traffic over the last 1, 10 and 60 whole seconds: each second is added once and taken away once: a reading costs nothing more.
import { addCell, type CellData, TrafficCell } from '../model/traffic-cells.ts';

const secondsMax = 60;

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
  readonly #ten = newSums();
  readonly #sixty = newSums();

  /** Returns the second under way. */
  get current(): Sums {
    return this.#seconds.at(-1) ?? newSums();
  }

  get windows(): readonly [Sums, Sums, Sums] {
    return [this.#seconds.at(-2) ?? newSums(), this.#ten, this.#sixty];
  }

  /** Ends the second under way. */
  turn(): void {
    const { current } = this;
    for (const sums of [this.#ten, this.#sixty]) addSums(sums, current, 1);
    this.#seconds.push(newSums());
    const leavesTen = this.#seconds.at(-12);
    if (leavesTen !== undefined) addSums(this.#ten, leavesTen, -1);
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
