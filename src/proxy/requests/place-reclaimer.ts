// Reclaims places of counts and last hits whose routes, middlewares and destinations are in no configuration any more: after
// years of changes a table would have no place left for what is new.
import type { Configuration } from '../../model/proxy-config.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { inSlices } from '../compile-slices.ts';
import { ChainCounts, chainSubject } from './chain-counts.ts';
import { destinationSubject, LastHits } from './last-hits.ts';
import type { RingShape } from './request-ring.ts';
import { keyOf, type SharedKeys } from './shared-keys.ts';

type Source = Pick<Configuration, 'routes' | 'groups' | 'destinations'>;

interface Table {
  readonly keys: SharedKeys;
  clear(place: number): void;
}

interface Reclaimed {
  readonly table: Table;
  readonly subjects: (configuration: Source) => Generator<string>;
  /** Places that were taken after the last look for dead ones. */
  taken: number;
  configurations: readonly Source[];
}

const lookMs = 10_000;
/** Longer than a worker takes from its look at a claim to the count. */
const releaseMs = 1_000;
/** Places taken since the last look at the same configurations, before there is another. */
const takenMin = 4_096;

export class PlaceReclaimer {
  readonly #tables: readonly Reclaimed[];
  readonly #clock: Clock;
  /** Returns the configurations that workers have, or are given. */
  readonly #configurations: () => readonly Source[];
  #cancel: Cancel = () => undefined;
  #isClosed = false;

  constructor(
    { chains, hits }: Pick<RingShape, 'chains' | 'hits'>,
    configurations: () => readonly Source[],
    clock: Clock,
  ) {
    const fresh = { taken: 0, configurations: [] };
    this.#tables = [
      { table: new ChainCounts(chains), subjects: chainSubjects, ...fresh },
      { table: new LastHits(hits), subjects: hitSubjects, ...fresh },
    ];
    this.#configurations = configurations;
    this.#clock = clock;
  }

  start(): void {
    this.#cancel = this.#clock.after(lookMs, () => void this.look().then(() => this.#isClosed || this.start()));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Gives up what is in no configuration, where a table is half full. Resolves once its places are free. */
  async look(): Promise<void> {
    for (const each of this.#tables) await this.#reclaim(each);
  }

  async #reclaim(each: Reclaimed): Promise<void> {
    const { keys } = each.table;
    const configurations = this.#configurations();
    const isSame =
      configurations.length === each.configurations.length &&
      configurations.every((one, at) => one === each.configurations[at]);
    if (!keys.isCrowded || (isSame && keys.taken < each.taken + takenMin)) return;
    const alive = await inSlices(keysOf(configurations, each.subjects));
    const retired = await inSlices(keys.retire((key) => alive.has(key)));
    if (retired > 0) {
      await new Promise<void>((resolve) => void this.#clock.after(releaseMs, resolve));
      await inSlices(keys.release((place) => each.table.clear(place)));
    }
    Object.assign(each, { configurations, taken: keys.taken });
  }
}

function* keysOf(
  configurations: readonly Source[],
  subjects: (configuration: Source) => Generator<string>,
): Generator<void, ReadonlySet<bigint>> {
  const keys = new Set<bigint>();
  for (const configuration of configurations) {
    for (const subject of subjects(configuration)) {
      keys.add(keyOf(subject));
      if (keys.size % 256 === 0) yield;
    }
  }
  return keys;
}

function* chainSubjects({ routes, groups }: Source): Generator<string> {
  for (const { id, middlewareIds = [] } of routes) for (const each of middlewareIds) yield chainSubject(id, each);
  for (const { routeIds = [], middlewareIds = [] } of groups)
    for (const id of routeIds) for (const each of middlewareIds) yield chainSubject(id, each);
}

function* hitSubjects({ routes, destinations }: Source): Generator<string> {
  for (const { id } of routes) yield id;
  for (const { id } of destinations) yield destinationSubject(id);
}
