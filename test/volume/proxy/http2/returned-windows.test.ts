// A large download over real sockets by a client that returns n bytes of window for each frame of n bytes, as RFC 9113 §6.9
// allows: to a listener, and to an upstream that takes an upload so.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { preface } from '../../../../src/proxy/http2/frame.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { frame, greeting, request, settings, uint32, WHOLE } from '../../../support/http2-frames.ts';
import { forwarding, ProxyBed } from '../../../support/proxy-bed.ts';

const bodyBytes = 128 << 20;
const DATA = 0;
const HEADERS = 1;
const GOAWAY = 7;

/** Reads frames and gives back what each DATA frame took. */
class ReturningReader {
  bytes = 0;
  frames = 0;
  small = 0;
  ended = false;
  goAway = -1;
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes before the first frame. */
  #skipped: number;
  readonly #socket: Socket;

  constructor(socket: Socket, skipped = 0) {
    this.#socket = socket;
    this.#skipped = skipped;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  #read(chunk: Buffer): void {
    const all = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    if (this.#skipped > 0) {
      if (all.length < this.#skipped) {
        this.#rest = all;
        return;
      }
      at = this.#skipped;
      this.#skipped = 0;
    }
    const back: Buffer[] = [];
    for (; at + 9 <= all.length; ) {
      const length = all.readUIntBE(at, 3);
      if (at + 9 + length > all.length) break;
      const type = all[at + 3];
      const streamId = all.readUInt32BE(at + 5);
      const ends = ((all[at + 4] ?? 0) & 1) !== 0;
      if (type === DATA) {
        this.frames++;
        this.bytes += length;
        if (length < 64 && !ends) this.small++;
        if (length > 0) back.push(frame('WINDOW_UPDATE', 0, 0, uint32(length)));
        if (length > 0 && !ends) back.push(frame('WINDOW_UPDATE', 0, streamId, uint32(length)));
      }
      if (ends && (type === DATA || type === HEADERS)) this.ended = true;
      if (type === GOAWAY) this.goAway = all.readUInt32BE(at + 13);
      at += 9 + length;
    }
    this.#rest = Buffer.from(all.subarray(at));
    // One after the other, as a client does that has no idea of what is still in its socket.
    for (const update of back) this.#socket.write(update);
  }
}

const piece = Buffer.alloc(65_521);

describe('a client that returns the bytes of each frame', () => {
  let bed: ProxyBed;
  beforeEach(() => {
    bed = new ProxyBed();
  });
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) end();
    await bed.end();
  });

  it('gets 128 MiB whole, in frames of which none is tiny', async () => {
    const port = await freePort();
    const upstreamPort = await bed.upstream(async (_request, response) => {
      response.writeHead(200, { 'content-length': String(bodyBytes) });
      for (let left = bodyBytes; left > 0; left -= piece.length) {
        if (!response.write(piece.subarray(0, Math.min(left, piece.length)))) await once(response, 'drain');
      }
      response.end();
    });
    await bed.install(forwarding(port, upstreamPort, { listener: { http2: true } }));
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    ends.push(() => socket.destroy());
    const reader = new ReturningReader(socket);
    socket.write(Buffer.concat([greeting, frame('HEADERS', WHOLE, 1, request())]));
    await eventually(() => expect(reader.ended || reader.goAway >= 0).to.equal(true));
    expect(reader.goAway).to.equal(-1);
    expect(reader.bytes).to.equal(bodyBytes);
    expect(reader.small).to.be.at.most(8);
    expect(reader.frames).to.be.at.most(3 * (bodyBytes / 16_384));
  });

  it('may be an upstream that takes an upload', async () => {
    const port = await freePort();
    let reader: ReturningReader | undefined;
    const upstream = createServer({ noDelay: true }, (socket) => {
      socket.write(settings());
      ends.push(() => socket.destroy());
      reader = new ReturningReader(socket, preface.length);
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const address = upstream.address();
    const upstreamPort = typeof address === 'object' && address !== null ? address.port : 0;
    await bed.install(
      forwarding(port, upstreamPort, { listener: { http2: true }, destination: { options: { http2: true } } }),
    );
    const client = connect({ port, host: '127.0.0.1' });
    const uploadBytes = 32 << 20;
    ends.push(
      () => client.destroy(),
      () => upstream.close(),
    );
    client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${uploadBytes}\r\n\r\n`);
    client.on('error', () => {});
    for (let left = uploadBytes; left > 0; left -= piece.length) {
      if (!client.write(piece.subarray(0, Math.min(left, piece.length)))) await once(client, 'drain');
    }
    await eventually(() => expect(reader?.ended === true || (reader?.goAway ?? -1) >= 0).to.equal(true), {
      withinMs: 60_000,
    });
    expect([reader?.goAway, reader?.bytes]).to.deep.equal([-1, uploadBytes]);
    expect(reader?.small).to.be.at.most(8);
  });
});
