import { EventEmitter } from 'node:events';
import {
  type ClientHttp2Stream,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server } from 'node:net';
import { expect } from 'chai';
import { isTimeout } from '../../../../src/proxy/external/external-failure.ts';
import { RunningCall } from '../../../../src/proxy/external/grpc-call.ts';
import { GrpcChannel } from '../../../../src/proxy/external/grpc-channel.ts';
import { frameOf } from '../../../../src/proxy/external/grpc-frames.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { listening } from '../../../support/proxy-bed.ts';

describe('a call of gRPC', () => {
  const clock = new ManualClock();
  let service: ReturnType<typeof createServer>;
  let channel: GrpcChannel;
  let answer: (stream: ServerHttp2Stream) => void;
  let told: unknown;
  before(async () => {
    service = createServer().on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      told = headers['grpc-timeout'];
      stream.on('error', () => {});
      stream.resume().on('end', () => answer(stream));
    });
    const port = await listening(service as unknown as Server);
    channel = new GrpcChannel({ id: 's', name: 's', host: '127.0.0.1', port }, clock);
  });
  after(() => {
    channel.close();
    service.close();
  });

  const ends =
    (status: string, message: Uint8Array = Buffer.alloc(0)) =>
    (stream: ServerHttp2Stream) => {
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': 'so' }));
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.end(message);
    };
  const resets = (code: number) => (stream: ServerHttp2Stream) => stream.close(code);
  const asked = (timeoutMs: number): Promise<unknown> =>
    channel
      .unary('/a.B/C', Buffer.from('in'), new AbortController().signal, { timeoutMs })
      .then(String, (error: unknown) => (isTimeout(error) ? 'timed out' : String(error)));

  it('tells the service how long it may take', async () => {
    answer = ends('0', frameOf(Buffer.from('out')));
    expect(await asked(1500)).to.equal('out');
    expect(told).to.equal('1500m');
    expect(await asked(0)).to.equal('out');
    expect(told).to.equal(undefined);
  });

  // The service's own timer was heard first on a busy machine: its status was taken for a failure of another kind.
  it('whose service says that the time is over has timed out, as has any that fails with no time left', async () => {
    answer = ends('4');
    expect(await asked(1000)).to.equal('timed out');
    expect(await asked(0)).to.equal('ExternalFailure: status 4: so');
    for (const late of [ends('1'), resets(constants.NGHTTP2_CANCEL), resets(constants.NGHTTP2_NO_ERROR)]) {
      answer = (stream) => {
        clock.advance(1000);
        late(stream);
      };
      expect(await asked(1000)).to.equal('timed out');
      expect(await asked(1001)).to.match(/^ExternalFailure: (status 1: so|unreachable|the stream broke off)/);
    }
  });

  it('keeps what trailers said of a failure when a reset follows them', () => {
    const stream = new EventEmitter();
    const failures: unknown[] = [];
    const receiver = { onMessage() {}, onEnd: (failure: unknown) => failures.push(String(failure)) };
    new RunningCall(stream as ClientHttp2Stream, receiver, clock, 0);
    stream.emit('response', { ':status': 200 });
    stream.emit('trailers', { 'grpc-status': '13', 'grpc-message': 'broken' });
    stream.emit('error', new Error('reset'));
    stream.emit('close');
    expect(failures).to.deep.equal(['ExternalFailure: status 13: broken']);
  });
});
