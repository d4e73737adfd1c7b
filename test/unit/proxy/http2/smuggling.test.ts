// From one version of HTTP to the other, seen from the upstream: what is malformed does not arrive at all (S10), and
// what arrives is one request, the same that was sent.

import type { Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import {
  block,
  END_HEADERS,
  END_STREAM,
  type Frame,
  frame,
  framesIn,
  greeting,
  request,
  WHOLE,
} from '../../../support/http2-frames.ts';
import { frameUpstream } from '../../../support/http2-upstream.ts';
import { type Field, instead, malformedRequests, plain } from '../../../support/malformed-requests.ts';
import { forwarding, ProxyBed, type RawClient, rawExchange } from '../../../support/proxy-bed.ts';
import { refusedBodies, refusedRequests } from '../../../support/refused-requests.ts';

const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

describe('between HTTP/2 and HTTP/1.1', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const frames = (wire: RawClient): Frame[] => framesIn(Buffer.from(wire.received, 'latin1'));
  const sent = async (...parts: readonly Buffer[]): Promise<RawClient> => {
    const wire = bed.wire(port);
    wire.send(Buffer.concat([greeting, ...parts]).toString('latin1'));
    await eventually(() =>
      expect(frames(wire).some(({ streamId, flags, type }) => ends(streamId, flags, type))).to.equal(true),
    );
    return wire;
  };

  it(`lets none of ${malformedRequests.length} malformed requests through`, async () => {
    const upstream = await bed.rawUpstream((socket) => socket.write(answer));
    await bed.install(forwarding(port, upstream.port, { listener: { http2: true } }));
    for (const [what, fields] of malformedRequests) {
      const wire = await sent(frame('HEADERS', WHOLE, 1, block(...fields)));
      expect(
        frames(wire).some(({ type, streamId }) => type === 'RST_STREAM' && streamId === 1),
        what,
      ).to.equal(true);
      wire.destroy();
    }
    expect(upstream.requests).to.deep.equal([]);
    await sent(frame('HEADERS', WHOLE, 1, request()));
    expect(upstream.requests).to.have.length(1);
  });

  const peer = `X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: x\r\n\r\n`;
  for (const [what, fields, data, head] of [
    ['a plain one', plain, undefined, 'GET / HTTP/1.1\r\nHost: x\r\n'],
    [
      'a path with everything that may be in one',
      instead(':path', '/a//./b/%2e%2E/c;d?e=/../%00&f'),
      undefined,
      'GET /a/c;d?e=/../%00&f HTTP/1.1\r\nHost: x\r\n',
    ],
    [
      'a host in place of the authority',
      [...plain.slice(0, 2), plain[3] as Field, ['host', 'x']],
      undefined,
      'GET / HTTP/1.1\r\nHost: x\r\n',
    ],
    ['both, the same', [...plain, ['host', 'x']], undefined, 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['te', [...plain, ['te', 'trailers']], undefined, 'GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n'],
    [
      'cookies',
      [...plain, ['cookie', 'a=b'], ['x-a', '1'], ['cookie', 'c=d']],
      undefined,
      'GET / HTTP/1.1\r\nHost: x\r\ncookie: a=b; c=d\r\nx-a: 1\r\n',
    ],
    [
      'names that pretend',
      [...plain, ['x_forwarded_for', '6.6.6.6'], ['transfer_encoding', 'chunked'], ['content_length', '5']],
      undefined,
      'GET / HTTP/1.1\r\nHost: x\r\n',
    ],
    [
      'hop-by-hop names that HTTP/2 does not know',
      [...plain, ['proxy-authorization', 'x'], ['http2-settings', 'x'], ['trailer', 'x']],
      undefined,
      'GET / HTTP/1.1\r\nHost: x\r\n',
    ],
    [
      'forged forwarding',
      [
        ...plain,
        ['x-forwarded-for', '6.6.6.6'],
        ['forwarded', 'for=6.6.6.6'],
        ['x-real-ip', '6.6.6.6'],
        ['x-forwarded-client-cert', 'x'],
      ],
      undefined,
      'GET / HTTP/1.1\r\nHost: x\r\n',
    ],
    [
      'a length of none',
      [...plain, ['content-length', '0']],
      undefined,
      'GET / HTTP/1.1\r\nHost: x\r\ncontent-length: 0\r\n',
    ],
    [
      'a body with a length',
      [...plain, ['content-length', '3']],
      'abc',
      'GET / HTTP/1.1\r\nHost: x\r\ncontent-length: 3\r\n',
    ],
    [
      'a body without',
      plain,
      '0\r\n\r\nGET /2 HTTP/1.1\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n',
    ],
    ['a method of its own', instead(':method', 'PURGE'), undefined, 'PURGE / HTTP/1.1\r\nHost: x\r\n'],
  ] as [string, Field[], string | undefined, string][]) {
    it(`passes on to an HTTP/1.1 upstream unchanged: ${what}`, async () => {
      let received = '';
      const upstreamPort = await new Promise<number>((resolve) => {
        void bed
          .rawUpstream((socket: Socket, text) => {
            received = text;
            socket.removeAllListeners('data');
            socket.on('data', (chunk: Buffer) => {
              received += chunk.toString('latin1');
            });
            setImmediate(() => socket.write(answer));
          })
          .then((upstream) => resolve(upstream.port));
      });
      await bed.install(forwarding(port, upstreamPort, { listener: { http2: true } }));
      const body = data === undefined ? [] : [frame('DATA', END_STREAM, 1, Buffer.from(data))];
      await sent(frame('HEADERS', data === undefined ? WHOLE : END_HEADERS, 1, block(...fields)), ...body);
      const expected =
        data === undefined
          ? ''
          : head.includes('chunked')
            ? `${data.length.toString(16)}\r\n${data}\r\n0\r\n\r\n`
            : data;
      expect(received).to.equal(`${head}${peer}${expected}`);
    });
  }

  it('lets no refused request of HTTP/1.1 reach an upstream of HTTP/2', async () => {
    let heads = 0;
    const upstreamPort = await frameUpstream(bed, ({ type, streamId }, socket) => {
      if (type !== 'HEADERS') return;
      heads++;
      socket.write(frame('HEADERS', WHOLE, streamId, block([':status', '200'])));
    });
    await bed.install(forwarding(port, upstreamPort, { destination: { options: { http2: true } } }));
    for (const [what, bytes] of refusedRequests.filter(([, text]) => text.length < 1_000)) {
      expect(await rawExchange(port, Buffer.from(bytes, 'latin1')), what).to.match(/^HTTP\/1\.1 (4|505)/);
    }
    expect(heads).to.equal(0);
    expect(refusedBodies.length).to.be.greaterThan(0);
    await rawExchange(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(heads).to.equal(1);
  });
});

/** Returns whether a frame ends a message that the client has begun. */
function ends(streamId: number, flags: number, type: string): boolean {
  return streamId === 1 && (type === 'RST_STREAM' || (flags & END_STREAM) !== 0);
}
