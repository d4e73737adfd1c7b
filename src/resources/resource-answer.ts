// Answer of an operation, free of any framework: the controllers hand it to the reply as it is.
import type { Caller } from './caller.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** JSON text; empty for 204. A long one in pieces, which are made as the client takes them. */
  readonly body: string | Iterable<string>;
}

/** Request as an operation sees it, free of any framework. */
export interface ApiRequest {
  readonly caller: Caller;
  /** Path as sent, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Raw body; empty when there is none. */
  readonly body: Buffer;
}

/** Header with the log index of the write, or of the state that was read (architecture.md §6.4). */
export const revisionHeader = (index: number): { 'X-Sluice-Revision': string } => ({
  'X-Sluice-Revision': String(index),
});

/** Strong entity tag of one resource (architecture.md §6.5). */
export const entityTag = (revision: number): { ETag: string } => ({ ETag: `"${revision}"` });

/** Strong entity tag of the whole staged state: the revision of its last change. */
export const stagedTag = (changedAt: number | undefined): { ETag?: string } =>
  changedAt === undefined ? {} : entityTag(changedAt);

/** An empty list, or a JSON array around texts that are JSON already. */
export const jsonArray = (items: readonly string[]): string => `[${items.join(',')}]`;

/** JSON array of many texts, in pieces where they are long. */
export const longJsonArray = (items: Iterable<string>): Answer['body'] => inPieces(arrayTexts(items));

function* arrayTexts(items: Iterable<string>): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield item;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Concatenates texts: as one text, or in pieces where that would block the thread. */
export function inPieces(texts: Iterable<string>): Answer['body'] {
  const all = pieces(texts);
  const first: string[] = [];
  for (let length = 0; length < longFrom; ) {
    const { done, value } = all.next();
    if (done) return first.join('');
    first.push(value);
    length += value.length;
  }
  return continued(first, all);
}

/** Characters from which a text is sent in pieces. */
const longFrom = 512 * 1024;
const pieceLength = 64 * 1024;

function* continued(first: readonly string[], rest: Iterable<string>): Generator<string> {
  yield* first;
  yield* rest;
}

function* pieces(texts: Iterable<string>): Generator<string, undefined> {
  let parts: string[] = [];
  let length = 0;
  for (const text of texts) {
    parts.push(text);
    length += text.length;
    if (length < pieceLength) continue;
    yield parts.join('');
    parts = [];
    length = 0;
  }
  if (length > 0) yield parts.join('');
}
