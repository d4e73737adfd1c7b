// Values of the API that stay current: read when a page shows them, read again when an event of the stream says so.
import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isPassing, messageOf, type Read, read } from './api.ts';

export type EventName = 'staged' | 'snapshots' | 'active' | 'rollout' | 'members' | 'fleet' | 'drains';

/** Event of the stream, with the ids that it names. */
export interface StateEvent {
  readonly event: EventName | 'reset';
  readonly index: number;
  readonly kind?: string | undefined;
  readonly ids: readonly string[];
  /** Further ids that are not named. */
  readonly more: boolean;
  /** Its ids are gone. */
  readonly isDeleted: boolean;
}

export interface Live<T> {
  readonly value: Signal<T | undefined>;
  readonly error: Signal<string | undefined>;
  readonly reload: () => Promise<void>;
}

interface Watched {
  readonly events: readonly EventName[];
  readonly everyMs: number | undefined;
  watchers: number;
  readonly onEvent: (event: StateEvent) => void;
  /** The stream is open for the first time, from that log index on: what shows an earlier one may lack a change. */
  readonly onOpen: (revision: number) => void;
}

const all = new Set<Watched>();

/** Time after which what could not be read is read again. */
export const againMs = 5_000;

/** Returns a value that is read from a path of the API, or by a function. */
export function live<T>(
  source: string | (() => Promise<Read<T>>),
  events: readonly EventName[],
  everyMs?: number,
): Live<T> & { readonly watched: Watched } {
  const value = signal<T | undefined>(undefined);
  const error = signal<string | undefined>(undefined);
  let loading: Promise<void> | undefined;
  let isStale = false;
  let shown = -1;
  let wanted = -1;
  const load = async (): Promise<void> => {
    try {
      const { body, revision } = await (typeof source === 'string' ? read<T>(source) : source());
      value.value = body;
      shown = revision;
      error.value = undefined;
    } catch (failure) {
      error.value = messageOf(failure);
      if (isPassing(failure) && (everyMs ?? Number.POSITIVE_INFINITY) > againMs) again();
    }
  };
  let retry: ReturnType<typeof setTimeout> | undefined;
  const again = (): void => {
    clearTimeout(retry);
    retry = setTimeout(() => {
      if (watched.watchers > 0 && error.value !== undefined) void reload();
    }, againMs);
  };
  const reload = (): Promise<void> => {
    if (loading !== undefined) {
      isStale = true;
      return loading;
    }
    loading = load().then(() => {
      loading = undefined;
      if (!isStale && shown >= wanted) return;
      isStale = false;
      wanted = -1;
      return reload();
    });
    return loading;
  };
  const onOpen = (revision: number): void => {
    if (loading !== undefined) wanted = revision;
    else if (shown < revision) void reload();
  };
  const watched: Watched = { events, everyMs, watchers: 0, onEvent: () => void reload(), onOpen };
  all.add(watched);
  return { value, error, reload, watched };
}

/** Registers something else that events keep current. */
export function watchEvents(
  events: readonly EventName[],
  onEvent: (event: StateEvent) => void,
  onOpen: (revision: number) => void = () => onEvent(reset),
): Watched {
  const watched: Watched = { events, everyMs: undefined, watchers: 0, onEvent, onOpen };
  all.add(watched);
  return watched;
}

/** Tells everything that is shown of an event; after `reset` all of it is read anew. */
export function dispatch(event: StateEvent): void {
  for (const each of all) {
    if (each.watchers === 0) continue;
    if (event.event === 'reset' || each.events.includes(event.event)) each.onEvent(event);
  }
}

const reset: StateEvent = { event: 'reset', index: 0, ids: [], more: false, isDeleted: false };

/** Reads everything that is shown anew, as the stream of changes is open again: some may have been missed. */
export const readAgain = (): void => dispatch(reset);

/** The same as it is open for the first time, where what is shown, or under way, is older than the stream. */
export function readAgainWhatIsOlder(revision: number): void {
  for (const { watchers, onOpen } of all) if (watchers > 0) onOpen(revision);
}

/** Keeps a value current as long as the component is shown; returns it. */
export function useLive<T>({ value, reload, watched }: ReturnType<typeof live<T>>): T | undefined {
  useWatched(watched);
  useLook(() => void reload(), watched.everyMs, [reload, watched]);
  return value.value;
}

/**
 * Looks as the component is shown and `of` changes, and every so many milliseconds while the page is seen. The signal ends
 * what is under way.
 * @param everyMs undefined: once.
 */
export function useLook(
  look: (signal: AbortSignal) => void,
  everyMs: number | undefined,
  of: readonly unknown[],
): void {
  useEffect(() => {
    const abort = new AbortController();
    look(abort.signal);
    const again = (): void => {
      if (!document.hidden) look(abort.signal);
    };
    const timer = everyMs === undefined ? undefined : setInterval(again, everyMs);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, of);
}

export function useWatched(watched: Watched): void {
  useEffect(() => {
    watched.watchers++;
    return () => void watched.watchers--;
  }, [watched]);
}
