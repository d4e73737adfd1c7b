// Answer of an operation, free of any framework: the controllers hand it to the reply as it is.
import type { Caller } from './caller.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** JSON text; empty for 204. */
  readonly body: string;
}

/** What an operation needs of a request, free of any framework. */
export interface ApiRequest {
  readonly caller: Caller;
  /** As sent, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Raw; empty when there is none. */
  readonly body: Buffer;
}

/** Log index that an answer speaks of: of the write, or of the state that was read (architecture.md §6.4). */
export const revisionHeader = (index: number): { 'X-Sluice-Revision': string } => ({
  'X-Sluice-Revision': String(index),
});

/** Strong entity tag of one resource (architecture.md §6.5). */
export const entityTag = (revision: number): { ETag: string } => ({ ETag: `"${revision}"` });

/** An empty list, or a JSON array around texts that are JSON already. */
export const jsonArray = (items: readonly string[]): string => `[${items.join(',')}]`;
