// Frames of clients, right and nearly right, to our HTTP/2 and to Node's own (nghttp2): a request that ours accepts,
// Node's accepts too and reads the same. Ours may refuse what Node accepts (docs/decisions/codec-strictness.md).
import type { Stream } from '../../../src/proxy/http2/stream.ts';
import {
  block,
  END_HEADERS,
  END_STREAM,
  frame,
  PADDED,
  post,
  request,
  settings,
  uint32,
  WHOLE,
} from '../../support/http2-frames.ts';
import { SessionBed } from '../../support/http2-session.ts';
import { seededRandom } from '../../support/mutation.ts';
import { nodeReading, nodeWriting } from '../../support/node-http2.ts';
import { damaged, shuffled } from './damage.ts';
import { type FuzzRun, seedOf } from './findings.ts';

interface Heard {
  readonly fields: string;
  body: Buffer;
  ended: boolean;
}

/** Keeps what it hears of each stream. */
export class Keeping extends SessionBed {
  readonly requests = new Map<number, Heard>();

  override onRequest(stream: Stream): void {
    const { fields } = stream;
    const joined = new Map<string, string>();
    for (let i = 0; i < fields.count; i++) {
      const before = joined.get(fields.name(i));
      joined.set(fields.name(i), before === undefined ? fields.value(i) : `${before}, ${fields.value(i)}`);
    }
    const lines = [...joined].map(([name, value]) => `${name}: ${value}`);
    const told =
      fields.protocol === '' && fields.method !== 'CONNECT' ? [fields.method, fields.scheme, fields.path] : ['-'];
    this.requests.set(stream.id, {
      fields: [...told, ...lines.sort()].join('\n'),
      body: Buffer.alloc(0),
      ended: false,
    });
    stream.receiver = this;
    // What is no host is answered 400 further in, in every version of HTTP.
    if (fields.hostConflict || !/^[\w.:[\]-]*$/.test(fields.authority)) {
      this.requests.delete(stream.id);
      stream.reset(1);
    }
    stream.resume();
  }

  override onData(stream: Stream, chunk: Buffer): boolean {
    const heard = this.requests.get(stream.id);
    if (heard !== undefined) heard.body = Buffer.concat([heard.body, chunk]);
    return true;
  }

  override onEnd(stream: Stream): void {
    const heard = this.requests.get(stream.id);
    if (heard !== undefined) heard.ended = true;
  }
}

/** Fields as Node shows them: names in an order of its own, repeated ones joined or as lists. */
function fieldsOfNode(headers: Readonly<Record<string, unknown>>): string {
  const told = [headers[':method'], headers[':scheme'], headers[':path']];
  const lines: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':')) continue;
    for (const one of Array.isArray(value) ? value : [value]) lines.push(`${name}: ${one}`);
  }
  const authority = headers[':authority'];
  if (authority !== undefined && headers.host === undefined) lines.push(`host: ${authority}`);
  return [...told, ...lines.sort()].join('\n');
}

const preface = 24;

/** Frames of what a client wrote. */
function cut(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = preface; at < bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    frames.push(bytes.subarray(at, end));
    at = end;
  }
  return frames;
}

interface Material {
  readonly start: Buffer;
  readonly good: readonly Buffer[];
}

let material: Promise<Material> | undefined;

async function makeMaterial(): Promise<Material> {
  const client = await nodeWriting(
    ['/', '/a', '/b?c'].map((path) => ({
      headers: { ':path': path, accept: '*/*', 'x-long': 'abcdefgh'.repeat(5) },
      body: path,
    })),
  );
  const start = client.subarray(0, preface);
  const good = [
    ...cut(client).slice(1),
    frame('HEADERS', WHOLE, 21, request(['a', 'b'])),
    frame('HEADERS', END_HEADERS, 23, post(['content-length', '3'])),
    frame('DATA', END_STREAM | PADDED, 23, Buffer.from([2, 1, 2, 3, 0, 0])),
    frame('HEADERS', END_STREAM, 25, request().subarray(0, 20)),
    frame('CONTINUATION', END_HEADERS, 25, request().subarray(20)),
    frame('HEADERS', END_HEADERS, 27, post(['te', 'trailers'])),
    frame('DATA', 0, 27, Buffer.from('abc')),
    frame('HEADERS', WHOLE, 27, block(['x', 'y'])),
    frame('PING', 0, 0, Buffer.alloc(8)),
    frame('WINDOW_UPDATE', 0, 0, uint32(7)),
    settings(4, 100_000),
    frame('PRIORITY', 0, 31, Buffer.from([0, 0, 0, 3, 9])),
    frame('RST_STREAM', 0, 23, uint32(8)),
    frame(0x63, 1, 21, Buffer.from('what')),
  ];
  return { start, good };
}

/** `looked`: frames. */
export async function fuzzRequests(seed: number, run: number): Promise<FuzzRun & { readonly read: number }> {
  const random = seededRandom(seedOf(seed, run));
  material ??= makeMaterial();
  const { start, good } = await material;
  const frames = shuffled(good, random).map((bytes) => (random() < 0.15 ? damaged(bytes, random) : bytes));
  const bed = new Keeping();
  bed.arrive(Buffer.concat([start, settings(), ...frames]), 1 + Math.floor(random() * 100));
  const node = await nodeReading([start, settings(), ...frames]);
  const complained = bed.said().some((said) => /^RST_STREAM|^GOAWAY/.test(said));
  const looked = frames.length;
  let read = 0;
  // Node takes the answer to a PING that it did not send for a fault of the connection; RFC 9113 does not.
  if (frames.some((bytes) => bytes[3] === 6 && ((bytes[4] ?? 0) & 1) === 1))
    return { looked, read, finding: undefined };
  for (const [id, heard] of bed.requests) {
    if (!heard.ended || heard.fields.startsWith('-')) continue;
    read++;
    const theirs = node.requests.get(id);
    // Node ends the connection where RFC 9113 §5.1 asks for the stream's end only.
    if (theirs === undefined && node.failed && complained) continue;
    const same =
      theirs !== undefined &&
      fieldsOfNode(theirs.headers) === heard.fields &&
      (!theirs.ended || theirs.body.equals(heard.body));
    if (same) continue;
    const shown = `node ${node.failed}, ours ${bed.failed}: ${frames.map((bytes) => bytes.toString('hex')).join(' ')}`;
    const other = theirs && JSON.stringify(fieldsOfNode(theirs.headers));
    return { looked, read, finding: `stream ${id}, ${JSON.stringify(heard.fields)} is not ${other}, ${shown}` };
  }
  return { looked, read, finding: undefined };
}
