// Node's own HTTP parser as the second opinion in differential tests. It is reached through an internal module, for
// its public faces (servers, clients) cost a hundred times as much per message.
import { createRequire } from 'node:module';
import type { Message, Reading } from './http1-reader.ts';

interface NodeParser {
  [callback: number]: (...values: never[]) => unknown;
  initialize(type: number, resource: object, headerBytesMax: number, lenient: number): void;
  execute(bytes: Buffer): number | Error;
  finish(): undefined | Error;
}

interface ParserClass {
  new (): NodeParser;
  readonly REQUEST: number;
  readonly RESPONSE: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
  readonly kLenientVersion: number;
  readonly kLenientSpacesAfterChunkSize: number;
}

const common: { HTTPParser: ParserClass; methods: string[] } = createRequire(import.meta.url)('_http_common');
const { HTTPParser, methods } = common;

export const knownMethods: ReadonlySet<string> = new Set(methods);

/** Leniences that RFC 9110 §2.5 and RFC 9112 §7.1.1 allow, and Node by default does not. */
const lenient = HTTPParser.kLenientVersion | HTTPParser.kLenientSpacesAfterChunkSize;

/** Reading in the shape of the codec's; `end` is the parser's error code. */
export function nodeReading(kind: 'requests' | 'responses', bytes: Buffer): Reading {
  const messages: Message[] = [];
  const parser = new HTTPParser();
  parser.initialize(kind === 'requests' ? HTTPParser.REQUEST : HTTPParser.RESPONSE, {}, 1 << 20, lenient);
  let lines: string[] = [];
  let begun: { start: string; fields: string[]; body: string } | undefined;
  let early = '';
  // Long heads come in parts, the target with the first of them.
  parser[HTTPParser.kOnHeaders] = (pairs: string[], url: string) => {
    lines.push(...pairs);
    early += url;
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    _major: number,
    sentMinor: number,
    pairs: string[] | undefined,
    method: number,
    url: string | undefined,
    status: number,
    reason: string,
  ) => {
    const minor = Math.min(sentMinor, 1);
    const start = kind === 'requests' ? `${methods[method]} ${url ?? early} ${minor}` : `${status} ${minor} ${reason}`;
    begun = { start, fields: joined([...lines, ...(pairs ?? [])]), body: '' };
    lines = [];
    early = '';
    return 0;
  };
  parser[HTTPParser.kOnBody] = (chunk: Buffer) => {
    if (begun !== undefined) begun.body += chunk.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    if (begun !== undefined) messages.push({ ...begun, trailers: joined(lines) });
    begun = undefined;
    lines = [];
    early = '';
  };
  const outcome = parser.execute(bytes);
  if (outcome instanceof Error) return { messages, end: 'code' in outcome ? String(outcome.code) : outcome.message };
  if (kind === 'responses') parser.finish();
  return { messages, end: begun === undefined ? 'idle' : 'more' };
}

const joined = (pairs: readonly string[]): string[] =>
  pairs.flatMap((text, i) => (i % 2 === 0 ? [`${text}: ${pairs[i + 1]}`] : []));
