// Everything that was counted on one listener, by all workers and by those that are gone, as Prometheus text
// (contract.md §10.1; text format 0.0.4). Main makes it, a slice at a time.
import { inSlices } from '../compile-slices.ts';
import { type Collected, type Family, families, family, labelsText } from './families.ts';
import type { Series } from './metric-block.ts';

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** State that is not counted but read at each scrape. */
export interface UpstreamStates {
  /** Destinations with a circuit breaker: 0 closed, 1 open, 2 half-open. */
  breakers(): readonly { readonly destination: string; readonly state: number }[];
  endpoints(): readonly {
    readonly destination: string;
    readonly endpoint: string;
    readonly available: boolean;
    readonly consecutive5xx: number;
  }[];
}

interface Ref {
  readonly isInflight: boolean;
  readonly values: Float64Array;
  readonly place: number;
  readonly width: number;
}

/** By family, then by labels. */
type Listed = Map<number, Map<string, Ref[]>>;

const inflight: ReadonlySet<number> = new Set([
  family.routeInflight,
  family.destinationInflight,
  family.activeConnections,
  family.streamActive,
  family.streamDestinationActive,
]);

export class Exposition {
  readonly #listeners = new Map<string, Listed>();
  /** By listener, then by subject. */
  readonly #subjects = new Map<string, Map<string, Ref[]>>();
  /** Series of each block; by the block's own place among the workers. */
  readonly #blocks: { readonly values: Float64Array; readonly series: Map<number, Series> }[] = [];

  block(worker: number, bytes: SharedArrayBuffer): void {
    this.#blocks[worker] = { values: new Float64Array(bytes), series: new Map() };
  }

  define(worker: number, list: readonly Series[]): void {
    const block = this.#blocks[worker];
    if (block === undefined) return;
    for (const series of list) {
      const known = block.series.get(series.place);
      if (known?.labels === series.labels && known.family === series.family && known.listener === series.listener)
        continue;
      block.series.set(series.place, series);
      const listed = getOr(this.#listeners, series.listener, () => new Map<number, Map<string, Ref[]>>());
      const refs = getOr(
        getOr(listed, series.family, () => new Map<string, Ref[]>()),
        series.labels,
        () => [],
      );
      const { place, width } = series;
      const ref = { values: block.values, place, width, isInflight: inflight.has(series.family) };
      refs.push(ref);
      const subjects = getOr(this.#subjects, series.listener, () => new Map<string, Ref[]>());
      getOr(subjects, series.subject, () => []).push(ref);
    }
  }

  forget(worker: number, listener: string): void {
    const block = this.#blocks[worker];
    if (block === undefined) return;
    for (const [place, series] of block.series) if (series.listener === listener) block.series.delete(place);
    for (const [number, byLabels] of this.#listeners.get(listener) ?? []) {
      for (const [labels, refs] of byLabels) {
        const left = refs.filter(({ values }) => values !== block.values);
        if (left.length > 0) byLabels.set(labels, left);
        else byLabels.delete(labels);
      }
      if (byLabels.size === 0) this.#listeners.get(listener)?.delete(number);
    }
    const subjects = this.#subjects.get(listener);
    for (const [subject, refs] of subjects ?? []) {
      const left = refs.filter(({ values }) => values !== block.values);
      if (left.length > 0) subjects?.set(subject, left);
      else subjects?.delete(subject);
    }
  }

  /** By listener, what label sets are about, each with what they count at the moment. */
  *subjects(): Generator<[listener: string, subjects: Iterable<[subject: string, tally: () => Tally]>]> {
    for (const [listener, subjects] of this.#subjects) yield [listener, tallies(subjects)];
  }

  /** Drops the series of these subjects, of every worker. */
  drop(listener: string, subjects: readonly string[]): void {
    const listed = this.#listeners.get(listener);
    const refs = this.#subjects.get(listener);
    for (const subject of subjects) {
      for (const { values, place } of refs?.get(subject) ?? []) {
        const block = this.#blocks.find((each) => each.values === values);
        const series = block?.series.get(place);
        if (series === undefined) continue;
        block?.series.delete(place);
        listed?.get(series.family)?.delete(series.labels);
      }
      refs?.delete(subject);
    }
  }

  /**
   * Returns the series that the next worker in that place continues. Requests under way in the crashed one no longer
   * count.
   */
  inherited(worker: number): readonly Series[] {
    const block = this.#blocks[worker];
    if (block === undefined) return [];
    const all = [...block.series.values()];
    for (const series of all) if (inflight.has(series.family)) block.values[series.place] = 0;
    return all;
  }

  /** Parts of the text; between two of them other work may be done. */
  *render(listener: string, collected: Collected, states: UpstreamStates): Generator<string> {
    const listed = this.#listeners.get(listener);
    for (let number = 0; number < families.length; number++) {
      const own: Family | undefined = families[number];
      if (own === undefined || !collected[own.dimension]) continue;
      if (own.protocol !== undefined && own.protocol !== collected.protocol) continue;
      if (own.isSparse === true && (listed?.get(number)?.size ?? 0) === 0) continue;
      yield `# HELP ${own.name} ${own.help}\n# TYPE ${own.name} ${own.type}\n`;
      if (number === family.circuitBreakerState) yield* breakerLines(own, states);
      else if (number === family.endpointHealthy || number === family.endpointConsecutive5xx)
        yield* endpointLines(own, number, states);
      else yield* this.#lines(own, listed?.get(number), own.buckets ?? collected.buckets);
    }
  }

  *#lines(
    own: Family,
    byLabels: ReadonlyMap<string, readonly Ref[]> | undefined,
    buckets: readonly number[],
  ): Generator<string> {
    let text = '';
    for (const [labels, refs] of byLabels ?? []) {
      text +=
        own.type === 'histogram'
          ? histogramText(own.name, labels, refs, buckets)
          : `${own.name}{${labels}} ${sumAt(refs, 0)}\n`;
      if (text.length < partLength) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
}

/** `busy`: something is under way. */
interface Tally {
  readonly sum: number;
  readonly busy: boolean;
}

function* tallies(subjects: ReadonlyMap<string, readonly Ref[]>): Generator<[string, () => Tally]> {
  for (const [subject, refs] of subjects) yield [subject, () => tallyOf(refs)];
}

function tallyOf(refs: readonly Ref[]): Tally {
  let sum = 0;
  let busy = false;
  for (const { values, place, width, isInflight } of refs) {
    // A histogram changes with a counter beside it.
    if (width > 1) continue;
    sum += values[place] ?? 0;
    busy ||= isInflight && values[place] !== 0;
  }
  return { sum, busy };
}

const partLength = 16_384;

const sumAt = (refs: readonly Ref[], offset: number): number => {
  let sum = 0;
  for (const { values, place } of refs) sum += values[place + offset] ?? 0;
  return sum;
};

function histogramText(name: string, labels: string, refs: readonly Ref[], buckets: readonly number[]): string {
  let text = '';
  let sum = 0;
  for (let i = 0; i < buckets.length; i++) {
    sum += sumAt(refs, i);
    text += `${name}_bucket{${labels},le="${buckets[i]}"} ${sum}\n`;
  }
  sum += sumAt(refs, buckets.length);
  text += `${name}_bucket{${labels},le="+Inf"} ${sum}\n`;
  return `${text}${name}_sum{${labels}} ${sumAt(refs, buckets.length + 1)}\n${name}_count{${labels}} ${sum}\n`;
}

function* breakerLines({ name }: Family, states: UpstreamStates): Generator<string> {
  for (const { destination, state } of states.breakers())
    yield `${name}{${labelsText([['destination', destination]])}} ${state}\n`;
}

function* endpointLines({ name }: Family, number: number, states: UpstreamStates): Generator<string> {
  for (const { destination, endpoint, available, consecutive5xx } of states.endpoints()) {
    const labels = labelsText([
      ['destination', destination],
      ['endpoint', endpoint],
    ]);
    yield `${name}{${labels}} ${number === family.endpointHealthy ? Number(available) : consecutive5xx}\n`;
  }
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** Time slice of rendering, in milliseconds. */
const sliceMs = 4;

/** Renders the whole text in time slices, beside the other work of the thread. */
export async function renderInSlices(
  exposition: Exposition,
  listener: string,
  collected: Collected,
  states: UpstreamStates,
): Promise<Uint8Array<ArrayBuffer>> {
  return await inSlices(encoded(exposition.render(listener, collected, states)), sliceMs);
}

function* encoded(texts: Iterable<string>): Generator<void, Uint8Array<ArrayBuffer>> {
  const parts: Buffer[] = [];
  let length = 0;
  for (const text of texts) {
    const part = Buffer.from(text, 'utf8');
    parts.push(part);
    length += part.length;
    yield;
  }
  // Of its own, for it is going to be transferred.
  const whole = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
    yield;
  }
  return whole;
}
