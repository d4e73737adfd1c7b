// Whatever request our HTTP/2 accepts, Node's own (nghttp2) accepts too and reads the same. SEED picks other streams
// and RUNS more of them. What Node takes and we do not is the strict side's business: malformed.test.ts names it.
import { expect } from 'chai';
import type { Stream } from '../../../../src/proxy/http2/stream.ts';
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
} from '../../../support/http2-frames.ts';
import { SessionBed } from '../../../support/http2-session.ts';
import { mutated, seededRandom } from '../../../support/mutation.ts';
import { nodeReading, nodeWriting } from '../../../support/node-http2.ts';

const seed = Number(process.env.SEED ?? 1);
const runs = Number(process.env.RUNS ?? 300);

interface Heard {
  readonly fields: string;
  body: Buffer;
  ended: boolean;
}

/** Keeps what it hears of each stream. */
class Keeping extends SessionBed {
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

/** As Node shows it: names in order of their own, repeated ones joined or as lists. */
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

describe('HTTP/2 beside Node’s own', () => {
  it('reads what a client of Node’s writes, Huffman and table included', async () => {
    const headers = (path: string, more: Record<string, string> = {}) => ({
      ':path': path,
      'user-agent': 'node/oracle',
      ...more,
    });
    const bytes = await nodeWriting([
      { headers: headers('/a?b=c', { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }) },
      { headers: headers('/a?b=c', { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', cookie: 'a=b; c=d' }) },
      { headers: { ...headers('/upload', { 'content-length': '5' }), ':method': 'POST' }, body: 'hello' },
    ]);
    const bed = new Keeping();
    bed.arrive(bytes, 11);
    expect(
      [...bed.requests.values()].map(({ fields, body, ended }) => [fields.split('\n')[2], body.length, ended]),
    ).to.deep.equal([
      ['/a?b=c', 0, true],
      ['/a?b=c', 0, true],
      ['/upload', 5, true],
    ]);
    expect(bed.requests.get(3)?.fields).to.include(
      'accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\ncookie: a=b; c=d',
    );
  });

  it(`reads no request that Node reads otherwise (SEED=${seed} RUNS=${runs})`, async function () {
    this.timeout(10_000 + runs * 100);
    const random = seededRandom(seed);
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
    let read = 0;
    for (let run = 0; run < runs; run++) {
      const frames = shuffled(good, random).map((bytes) => (random() < 0.15 ? damaged(bytes, random) : bytes));
      const bytes = Buffer.concat([start, settings(), ...frames]);
      const bed = new Keeping();
      bed.arrive(Buffer.from(bytes), 1 + Math.floor(random() * 100));
      const node = await nodeReading([start, settings(), ...frames]);
      const complained = bed.said().some((said) => /^RST_STREAM|^GOAWAY/.test(said));
      for (const [id, heard] of bed.requests) {
        if (!heard.ended || heard.fields.startsWith('-')) continue;
        read++;
        const theirs = node.requests.get(id);
        // Node ends the connection where RFC 9113 §5.1 asks for the stream's end only.
        if (theirs === undefined && node.failed && complained) continue;
        const where = `run ${run}, stream ${id}, node ${node.failed}, ours ${bed.failed}: ${frames.map((bytes) => bytes.toString('hex')).join(' ')}`;
        expect(theirs, where).to.not.equal(undefined);
        if (theirs === undefined) continue;
        expect(fieldsOfNode(theirs.headers), where).to.equal(heard.fields);
        if (theirs.ended) expect(theirs.body.equals(heard.body), where).to.equal(true);
      }
    }
    expect(read).to.be.greaterThan(runs);
  });
});

describe('an upstream of HTTP/2 that says whatever comes to its mind', () => {
  it(`ends streams or its connection, and nothing else (SEED=${seed} RUNS=${runs})`, () => {
    const random = seededRandom(seed);
    const good = [
      settings(3, 50),
      frame('HEADERS', END_HEADERS, 1, block([':status', '200'], ['content-length', '5'])),
      frame('DATA', END_STREAM, 1, Buffer.from('hello')),
      frame('HEADERS', END_HEADERS, 3, block([':status', '103'], ['link', 'x'])),
      frame('HEADERS', END_HEADERS, 3, block([':status', '200'])),
      frame('DATA', PADDED, 3, Buffer.from([1, 65, 0])),
      frame('HEADERS', WHOLE, 3, block(['grpc-status', '0'])),
      frame('RST_STREAM', 0, 5, uint32(7)),
      frame('WINDOW_UPDATE', 0, 7, uint32(100)),
      frame('GOAWAY', 0, 0, Buffer.concat([uint32(5), uint32(0)])),
      frame('PING', 0, 0, Buffer.alloc(8)),
      frame('PUSH_PROMISE', 4, 1, Buffer.concat([uint32(2), request()])),
    ];
    let ended = 0;
    for (let run = 0; run < runs * 3; run++) {
      const bed = new SessionBed({ server: false, streamWindow: 131_072 });
      for (let i = 0; i < 4; i++) {
        const stream = bed.session.request();
        if (stream === undefined) continue;
        stream.receiver = bed;
        bed.encoder.begin();
        bed.encoder.request('POST', 'http', 'x', '/');
        stream.sendHead(bed.encoder, i === 0);
      }
      bed.takes = random() < 0.8;
      const frames = shuffled(good, random).map((bytes) => (random() < 0.3 ? damaged(bytes, random) : bytes));
      bed.arrive(Buffer.concat(frames), 1 + Math.floor(random() * 60));
      for (const { flags, type } of bed.frames()) expect(type === 'PUSH_PROMISE' || flags > 0x2d, type).to.equal(false);
      // Nothing is heard of a stream that was reset, nor a body behind its end.
      for (const id of [1, 3, 5, 7]) {
        const heard = bed.heard.filter((event) => event.startsWith(`${id} `)).map((event) => event.split(' ')[1]);
        const told = heard.findIndex((event) => event === 'end' || event === 'reset');
        const behind = told < 0 ? [] : heard.slice(told + 1);
        expect(
          behind.length === 0 || (heard[told] === 'end' && behind.join() === 'reset'),
          bed.heard.join(', '),
        ).to.equal(true);
        if (told >= 0) ended++;
      }
    }
    expect(ended).to.be.greaterThan(runs);
  });
});

/** Mostly a byte or two that are others; now and then bytes too many or too few. */
function damaged(bytes: Buffer, random: () => number): Buffer {
  if (random() < 0.1) return mutated([bytes], random);
  const other = Buffer.from(bytes);
  for (let changes = 1 + Math.floor(random() * 2); changes > 0; changes--) {
    const at = random() < 0.2 ? 4 : 9 + Math.floor(random() * Math.max(1, other.length - 9));
    other[Math.min(at, other.length - 1)] =
      random() < 0.5 ? Math.floor(random() * 256) : (other[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  }
  return other;
}

/** Most of them, mostly in order. */
function shuffled(frames: readonly Buffer[], random: () => number): Buffer[] {
  const kept = frames.filter(() => random() < 0.9);
  if (random() < 0.5) return kept;
  const [a, b] = [Math.floor(random() * kept.length), Math.floor(random() * kept.length)];
  const swapped = [...kept];
  [swapped[a], swapped[b]] = [kept[b] ?? Buffer.alloc(0), kept[a] ?? Buffer.alloc(0)];
  return swapped;
}
