// Reads whole messages with the codec, cut into reads as a test likes, and says what came out. As in a proxy, the bytes
// lie among those of others, and are overwritten as soon as the codec has looked at them.
import type { LenientForm } from '../../src/model/destination-options.ts';
import { BodyDecoder } from '../../src/proxy/http1/body-decoder.ts';
import { Framing } from '../../src/proxy/http1/framing.ts';
import type { Head } from '../../src/proxy/http1/head.ts';
import { lenienceOf } from '../../src/proxy/http1/lenience.ts';
import { LenientResponseParser } from '../../src/proxy/http1/lenient-response-parser.ts';
import { RequestParser } from '../../src/proxy/http1/request-parser.ts';
import { ResponseParser } from '../../src/proxy/http1/response-parser.ts';
import { RequestTarget } from '../../src/proxy/message/request-target.ts';

const limits = { startLineBytesMax: 65_536, headBytesMax: 1 << 20, fieldBytesMax: 0, linesMax: 128 };

export interface Message {
  /** `GET /x 1` or `200 1 OK`. */
  readonly start: string;
  readonly fields: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
}

export interface Reading {
  readonly messages: readonly Message[];
  /** End of the reading: `idle` between messages, `more` within one, `closed` by a message, otherwise the refusal. */
  readonly end: string;
}

const linesOf = (head: Head | undefined): string[] =>
  head === undefined ? [] : Array.from({ length: head.count }, (_, i) => `${head.name(i)}: ${head.value(i)}`);

/** `cuts` are positions where one read ends and the next begins. */
export function readRequests(bytes: Buffer, cuts: readonly number[] = []): Reading {
  const parser = new RequestParser(limits);
  const framing = new Framing();
  const target = new RequestTarget();
  return readAll(bytes, cuts, { parser, framing, decoder: new BodyDecoder() }, () => {
    const refused = target.read(parser);
    if (refused !== undefined) return { problem: target.problem || refused };
    return { problem: framing.readRequest(parser), start: `${parser.method} ${parser.target} ${parser.minor}` };
  });
}

/** Ends with the end of the connection. `forms` are those that are allowed beyond RFC 9112. */
export function readResponses(
  bytes: Buffer,
  cuts: readonly number[] = [],
  toHead = false,
  forms: readonly LenientForm[] = [],
): Reading {
  const lenience = lenienceOf(forms);
  const parser = lenience === undefined ? new ResponseParser(limits) : new LenientResponseParser(limits, lenience);
  const framing = new Framing();
  return readAll(bytes, cuts, { parser, framing, decoder: new BodyDecoder(lenience) }, () => {
    const problem = framing.readResponse(parser, toHead);
    return { problem, start: `${parser.status} ${parser.minor} ${parser.reason}` };
  });
}

interface Codec {
  readonly parser: RequestParser | ResponseParser;
  readonly framing: Framing;
  readonly decoder: BodyDecoder;
}

interface Begun {
  readonly problem: string;
  readonly start?: string;
}

function readAll(
  bytes: Buffer,
  cuts: readonly number[],
  { parser, framing, decoder }: Codec,
  begin: () => Begun,
): Reading {
  const messages: Message[] = [];
  let held: Buffer = Buffer.alloc(0);
  let begun: { start: string; fields: string[]; body: string } | undefined;
  const complete = (message: { start: string; fields: string[]; body: string }): void => {
    messages.push({ ...message, trailers: linesOf(decoder.trailers) });
    begun = undefined;
    parser.reset();
  };
  for (const read of cutApart(bytes, cuts)) {
    held = Buffer.concat([held, read]);
    while (held.length > 0) {
      if (begun === undefined) {
        const bytes = amongOthers(held);
        const status = parser.parse(bytes, before.length, before.length + held.length);
        bytes.fill('#');
        if (status === 'more') break;
        if (status !== 'done') return { messages, end: parser.problem || status };
        const { problem, start = '' } = begin();
        if (problem !== '') return { messages, end: problem };
        decoder.reset(framing.kind, framing.length);
        begun = { start, fields: linesOf(parser.head), body: '' };
        held = Buffer.from(held.subarray(parser.end - before.length));
        if (decoder.done) complete(begun);
        if (begun === undefined && (!framing.keepAlive || framing.upgrade !== '')) return { messages, end: 'closed' };
        continue;
      }
      const bytes = amongOthers(held);
      const next = decoder.decode(bytes, before.length, before.length + held.length);
      begun.body += bytes.toString('latin1', decoder.dataStart, decoder.dataEnd);
      bytes.fill('#');
      if (decoder.problem !== '') return { messages, end: decoder.problem };
      held = Buffer.from(held.subarray(next - before.length));
      if (decoder.done) complete(begun);
      if (begun === undefined && (!framing.keepAlive || framing.upgrade !== '')) return { messages, end: 'closed' };
    }
  }
  if (begun !== undefined) {
    decoder.endOfInput();
    if (decoder.done) complete(begun);
  }
  return { messages, end: begun !== undefined || held.length > 0 ? 'more' : 'idle' };
}

const before = Buffer.from('GET / HTTP/1.1\r\n');
const after = Buffer.from('\n\r\n0\r\n\r\n');
const amongOthers = (bytes: Buffer): Buffer => Buffer.concat([before, bytes, after]);

function* cutApart(bytes: Buffer, cuts: readonly number[]): Generator<Buffer> {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    if (cut > from && cut < bytes.length) {
      yield Buffer.from(bytes.subarray(from, cut));
      from = cut;
    }
  }
  yield Buffer.from(bytes.subarray(from));
}
