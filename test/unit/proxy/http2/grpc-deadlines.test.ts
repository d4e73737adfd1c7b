// Services of gRPC end a call at its deadline with a bare reset, as grpc-go's do: its caller hears of the deadline, and not
// of a connection that was lost.
import { expect } from 'chai';
import { freePort } from '../../../support/free-port.ts';
import { type Http2Answer, Http2Client } from '../../../support/http2-client.ts';
import { block, END_HEADERS, frame, uint32 } from '../../../support/http2-frames.ts';
import { frameUpstream } from '../../../support/http2-upstream.ts';
import { forwarding, ProxyBed } from '../../../support/proxy-bed.ts';

const message = '\0\0\0\0\u0002hi';
const head = block([':status', '200'], ['content-type', 'application/grpc']);

describe('a gRPC deadline', () => {
  let bed: ProxyBed;
  let client: Http2Client;
  let calls = 0;

  beforeEach(() => {
    bed = new ProxyBed();
    calls = 0;
  });
  afterEach(async () => {
    client.close();
    await bed.end();
  });

  /** The service resets each call when so many milliseconds have passed, behind a head and a message or without. */
  const serve = async (afterMs: number, begins: boolean, forward: object = {}): Promise<void> => {
    const upstreamPort = await frameUpstream(bed, ({ type, streamId }, socket) => {
      if (type !== 'HEADERS') return;
      calls++;
      const endMs = performance.now() + afterMs;
      if (begins) {
        socket.write(frame('HEADERS', END_HEADERS, streamId, head));
        socket.write(frame('DATA', 0, streamId, Buffer.from(message)));
      }
      const wait = (): void => {
        if (performance.now() < endMs) setTimeout(wait, 5);
        else socket.write(frame('RST_STREAM', 0, streamId, uint32(8)));
      };
      wait();
    });
    const port = await freePort();
    const options = { listener: { http2: true }, destination: { options: { http2: true } }, forward };
    await bed.install(forwarding(port, upstreamPort, options));
    client = new Http2Client(`http://127.0.0.1:${port}`);
  };
  const call = (timeout: string, contentType = 'application/grpc'): Promise<Http2Answer> =>
    client.ask(
      { ':method': 'POST', ':path': '/a.B/C', te: 'trailers', 'content-type': contentType, 'grpc-timeout': timeout },
      message,
    );

  it('that has passed is reported to its caller, without a retry', async () => {
    await serve(30, false, { retry: { attempts: 3, on: ['connection-failure'] } });
    const { status, headers } = await call('30m');
    expect([status, headers['grpc-status']]).to.deep.equal([200, '4']);
    expect(headers['grpc-message']).to.match(/^timeout: .*deadline/);
    expect(calls).to.equal(1);
  });

  it('that has passed ends a begun response with trailers', async () => {
    await serve(30, true);
    const { status, body, trailers } = await call('30m');
    expect([status, body, trailers['grpc-status']]).to.deep.equal([200, message, '4']);
    expect(trailers['grpc-message']).to.match(/^timeout: .*deadline/);
  });

  it('is the one that the service got', async () => {
    await serve(30, false, { maxGrpcTimeout: '30ms' });
    expect((await call('1H')).headers['grpc-status']).to.equal('4');
  });

  it('that has not passed is not named as a reason', async () => {
    await serve(0, false);
    const { headers } = await call('1H');
    expect(headers['grpc-status']).to.equal('14');
    expect(headers['grpc-message']).to.match(/^connection_reset: /);
    expect((await call('0m', 'text/plain')).status).to.equal(502);
  });
});
