// Answer of an operation, free of any framework: the controllers hand it to the reply as it is.
import type { Caller } from './caller.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** JSON text; empty for 204. A long one in pieces, which are made as the client takes them. */
  readonly body: string | Iterable<string>;
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

/** The same of many, in pieces where they are long. */
export const longJsonArray = (items: readonly string[]): Answer['body'] => inPieces(items.length, arrayTexts(items));

function* arrayTexts(items: readonly string[]): Generator<string> {
  yield '[';
  for (let at = 0; at < items.length; at++) {
    if (at > 0) yield ',';
    yield items[at] ?? '';
  }
  yield ']';
}

/** Texts of so many items after each other: as one text, or in pieces where it would hold the thread to make it. */
export const inPieces = (items: number, texts: Iterable<string>): Answer['body'] =>
  items < longFrom ? [...texts].join('') : pieces(texts);

const longFrom = 2_000;
const pieceLength = 64 * 1024;

function* pieces(texts: Iterable<string>): Generator<string> {
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
