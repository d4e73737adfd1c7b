// Entities of one kind as pages list them. An event that names few ids costs as many reads; else the list is read anew.
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError, get, isPassing, messageOf, read } from './api.ts';
import { againMs, type StateEvent, watchEvents } from './live.ts';
import type { EditedKind, Entity } from './types.ts';

const singleReads = 20;
/** Entities up to which the list is read whole: it is small, and has no gaps for what was deleted meanwhile. */
const smallMax = 2_000;

export class Collection {
  readonly kind: EditedKind;
  readonly entities = signal<readonly Entity[] | undefined>(undefined);
  readonly error = signal<string | undefined>(undefined);
  readonly watched = watchEvents(
    ['staged'],
    (event) => void this.#onStaged(event),
    (revision) => this.#onOpen(revision),
  );
  #loading: Promise<void> | undefined;
  /** Something changed while it was read. */
  #isStale = false;
  /** Log index that the list shows, and the least that the one under way has to show. */
  #shown = -1;
  #wanted = -1;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(kind: EditedKind) {
    this.kind = kind;
  }

  load(): Promise<void> {
    this.#loading ??= this.#read().then(() => {
      this.#loading = undefined;
      if (!this.#isStale && this.#shown >= this.#wanted) return;
      this.#isStale = false;
      this.#wanted = -1;
      return this.load();
    });
    return this.#loading;
  }

  #loadAgain(): Promise<void> {
    this.#isStale = this.#loading !== undefined;
    return this.load();
  }

  async #read(): Promise<void> {
    try {
      const { body, revision } = await read<readonly Entity[]>(
        `/${this.kind}${this.kind === 'secrets' ? '?changedAt=true' : ''}`,
      );
      this.entities.value = body;
      this.#shown = revision;
      this.error.value = undefined;
    } catch (error) {
      this.error.value = messageOf(error);
      if (isPassing(error)) this.#again();
    }
  }

  #again(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      if (this.watched.watchers > 0 && this.error.value !== undefined) void this.load();
    }, againMs);
  }

  #onOpen(revision: number): void {
    if (this.#loading !== undefined) this.#wanted = revision;
    else if (this.#shown < revision) void this.load();
  }

  async #onStaged({ event, kind, ids, more, isDeleted }: StateEvent): Promise<void> {
    if (kind !== undefined && kind !== this.kind) return;
    const known = this.entities.value;
    // A secret by itself is its value, which no page asks for.
    const isListed = this.kind === 'secrets' || known === undefined || known.length < smallMax;
    // A list under way may be older than the change, and takes the place of all.
    const isUnderWay = this.#loading !== undefined;
    if (event === 'reset' || isListed || isUnderWay || more || ids.length > singleReads) return this.#loadAgain();
    const read = isDeleted ? ids.map(() => undefined) : await Promise.all(ids.map((id) => this.#one(id)));
    if (read.includes('failed')) return this.#loadAgain();
    const changed = new Map(ids.map((id, at) => [id, read[at]]));
    const rest = (this.entities.value ?? known).filter(({ id }) => !changed.has(id));
    const present = [...changed.values()].filter((one): one is Entity => typeof one === 'object');
    this.entities.value = [...rest, ...present].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async #one(id: string): Promise<Entity | undefined | 'failed'> {
    try {
      return await get<Entity>(`/${this.kind}/${encodeURIComponent(id)}`);
    } catch (error) {
      return error instanceof ApiError && error.status === 404 ? undefined : 'failed';
    }
  }
}

const collections = new Map<EditedKind, Collection>();

function collectionOf(kind: EditedKind): Collection {
  let collection = collections.get(kind);
  if (collection === undefined) {
    collection = new Collection(kind);
    collections.set(kind, collection);
  }
  return collection;
}

/** Returns the entities of some kinds, kept current while the component is shown; `kinds` is one list for ever. */
export function useCollections(kinds: readonly EditedKind[]): readonly Collection[] {
  const all = kinds.map(collectionOf);
  useEffect(() => {
    for (const collection of all) {
      collection.watched.watchers++;
      void collection.load();
    }
    return () => {
      for (const { watched } of all) watched.watchers--;
    };
  }, [kinds]);
  return all;
}

/** The same of one kind. */
export function useCollection(kind: EditedKind): Collection {
  const kinds = useMemo(() => [kind], [kind]);
  useCollections(kinds);
  return collectionOf(kind);
}
