// Metrics of one worker: a block of shared memory that main reads at any time, and that outlives the
// worker (observability.md §2). The worker allocates places in it and posts their meaning to main.

/** Meaning of places in the block. A histogram has a place per bucket, one for all, and one for the sum. */
export interface Series {
  /** Id of the listener. */
  readonly listener: string;
  /** Number of the family. */
  readonly family: number;
  readonly labels: string;
  /** Subject of its labels: see configured.ts. */
  readonly subject: string;
  /** The first of its places. */
  readonly place: number;
  /** Number of its places. */
  readonly width: number;
}

/** Receiver of the meaning of places. */
export interface SeriesReader {
  define(series: readonly Series[]): void;
  /** All series of that listener are gone; their places are going to mean something else. */
  forget(listener: string): void;
}

/** 32 MiB of address space; the system gives memory only for what is used. */
const placesMax = 1 << 22;

export const newMetricBytes = (places = placesMax): SharedArrayBuffer => new SharedArrayBuffer(places * 8);

export class MetricBlock {
  readonly values: Float64Array;
  readonly #reader: SeriesReader;
  readonly #known = new Map<string, Series>();
  /** By width. */
  readonly #free = new Map<number, number[]>();
  /** Places of an earlier worker that main does not know of, or no longer does. */
  readonly #gaps: { at: number; width: number }[] = [];
  /** Grows when places change their meaning: code that caches places has to allocate them anew. */
  epoch = 0;
  #end = 0;
  #unpublished: Series[] = [];

  /** `former` is what a worker before this one counted in the same block: it is counted on. */
  constructor(bytes: SharedArrayBuffer, reader: SeriesReader, former: readonly Series[] = []) {
    this.values = new Float64Array(bytes);
    this.#reader = reader;
    for (const series of [...former].sort((a, b) => a.place - b.place)) {
      this.#known.set(keyOf(series.listener, series.family, series.labels), series);
      if (series.place > this.#end) this.#gaps.push({ at: this.#end, width: series.place - this.#end });
      this.#end = Math.max(this.#end, series.place + series.width);
    }
  }

  /** The first place of the series, made when there is none; -1 when the block is full. */
  place(listener: string, family: number, labels: string, subject: string, width = 1): number {
    const key = keyOf(listener, family, labels);
    const known = this.#known.get(key);
    if (known !== undefined) return known.place;
    const place = this.#free.get(width)?.pop() ?? this.#fromGap(width) ?? this.#extend(width);
    if (place < 0) return -1;
    this.values.fill(0, place, place + width);
    const series = { listener, family, labels, subject, place, width };
    this.#known.set(key, series);
    if (this.#unpublished.length === 0) queueMicrotask(() => this.#publish());
    this.#unpublished.push(series);
    return place;
  }

  /** Gives back all places of a listener. */
  forget(listener: string): void {
    this.#publish();
    for (const [key, series] of this.#known) if (series.listener === listener) this.#release(key, series);
    this.#reader.forget(listener);
  }

  /** Frees all places of these subjects; the reader has forgotten them already. */
  drop(listener: string, subjects: readonly string[]): void {
    this.#publish();
    const gone = new Set(subjects);
    for (const [key, series] of this.#known) {
      if (series.listener === listener && gone.has(series.subject)) this.#release(key, series);
    }
    this.epoch++;
  }

  #release(key: string, { place, width }: Series): void {
    this.#known.delete(key);
    const free = this.#free.get(width);
    if (free === undefined) this.#free.set(width, [place]);
    else free.push(place);
  }

  #fromGap(width: number): number | undefined {
    const gap = this.#gaps.find((each) => each.width >= width);
    if (gap === undefined) return undefined;
    const { at } = gap;
    gap.at += width;
    gap.width -= width;
    return at;
  }

  #extend(width: number): number {
    if (this.#end + width > this.values.length) return -1;
    const place = this.#end;
    this.#end += width;
    return place;
  }

  #publish(): void {
    if (this.#unpublished.length === 0) return;
    const news = this.#unpublished;
    this.#unpublished = [];
    this.#reader.define(news);
  }
}

const keyOf = (listener: string, family: number, labels: string): string => `${listener}\n${family}\n${labels}`;
