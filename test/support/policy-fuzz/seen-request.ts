// Requests as an upstream reads them that takes nothing for granted: HTTP/1.1 by its grammar, and a fault for each byte
// that is not of it (RFC 9112).

import { fieldOf, isToken, type SentField } from './grammar.ts';

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** In their order, values as they were sent. */
  readonly fields: readonly SentField[];
  readonly body: string;
  readonly trailers: readonly SentField[];
}

/** A message that no client of HTTP/1.1 may send. */
export class Malformed extends Error {}

const startLine = /^(\S+) (\S+) HTTP\/1\.1$/;

/** Values of all lines of a field, in their order. `name` in lower case. */
export const valuesOf = ({ fields }: Pick<SeenRequest, 'fields'>, name: string): string[] =>
  fields.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);

/** Takes requests from the beginning of `text`; `rest` is the beginning of one that is not whole. Throws Malformed. */
export function takeRequests(text: string): { requests: SeenRequest[]; rest: string } {
  const requests: SeenRequest[] = [];
  for (;;) {
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return { requests, rest: text };
    const [first = '', ...lines] = text.slice(0, end).split('\r\n');
    const [, method, target] = startLine.exec(first) ?? [];
    if (method === undefined || target === undefined || !isToken(method))
      throw new Malformed(`start line ${JSON.stringify(first)}`);
    const fields = fieldsOf(lines);
    const framed = bodyAt(text, end + 4, fields);
    if (framed === undefined) return { requests, rest: text };
    requests.push({ method, target, fields, body: framed.body, trailers: framed.trailers });
    text = text.slice(framed.end);
  }
}

function fieldsOf(lines: readonly string[]): SentField[] {
  return lines.map((line) => {
    const field = fieldOf(line);
    if (field === undefined) throw new Malformed(`field line ${JSON.stringify(line)}`);
    return field;
  });
}

interface FramedBody {
  readonly body: string;
  readonly trailers: SeenRequest['trailers'];
  /** Position behind it. */
  readonly end: number;
}

/** Undefined while it is not whole. */
function bodyAt(text: string, at: number, fields: SeenRequest['fields']): FramedBody | undefined {
  const lengths = valuesOf({ fields }, 'content-length');
  const codings = valuesOf({ fields }, 'transfer-encoding');
  if (valuesOf({ fields }, 'host').length !== 1) throw new Malformed('not one Host');
  if (lengths.length + codings.length > 1) throw new Malformed(`framed by ${JSON.stringify([...lengths, ...codings])}`);
  if (codings.length === 1) {
    if (codings[0] !== 'chunked') throw new Malformed(`Transfer-Encoding ${JSON.stringify(codings[0])}`);
    return chunkedAt(text, at);
  }
  const [length = '0'] = lengths;
  if (!/^\d+$/.test(length)) throw new Malformed(`Content-Length ${JSON.stringify(length)}`);
  const end = at + Number(length);
  return end > text.length ? undefined : { body: text.slice(at, end), trailers: [], end };
}

function chunkedAt(text: string, at: number): FramedBody | undefined {
  let body = '';
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = text.slice(at, lineEnd);
    if (!/^[0-9A-Fa-f]{1,8}$/.test(size)) throw new Malformed(`chunk size ${JSON.stringify(size)}`);
    const length = Number.parseInt(size, 16);
    at = lineEnd + 2;
    if (length === 0) break;
    if (at + length + 2 > text.length) return undefined;
    if (text.slice(at + length, at + length + 2) !== '\r\n') throw new Malformed('no line end behind a chunk');
    body += text.slice(at, at + length);
    at += length + 2;
  }
  if (text.startsWith('\r\n', at)) return { body, trailers: [], end: at + 2 };
  const end = text.indexOf('\r\n\r\n', at);
  return end < 0 ? undefined : { body, trailers: fieldsOf(text.slice(at, end).split('\r\n')), end: end + 4 };
}
