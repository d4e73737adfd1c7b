import {
  constants,
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { isTimeout, notAwaited } from '../../../../src/proxy/external/external-failure.ts';
import { RunningCall } from '../../../../src/proxy/external/grpc-call.ts';
import { type AnswerWaiter, GrpcChannel } from '../../../../src/proxy/external/grpc-channel.ts';
import { frameOf, MessageReader } from '../../../../src/proxy/external/grpc-frames.ts';
import type { Stream } from '../../../../src/proxy/http2/stream.ts';
import { NameLookup } from '../../../../src/proxy/upstream/name-lookup.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import { ca, server as certified } from '../../../support/certificates.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { listening } from '../../../support/proxy-bed.ts';

interface Ending {
  /** `grpc-message`. */
  readonly why?: string;
  /** Fields of the head. */
  readonly fields?: Readonly<Record<string, string | undefined>>;
}

const ofGrpc = { 'content-type': 'application/grpc' };
const reset = { code: 2, faulty: false, unanswered: false, message: 'reset' };

describe('a call of gRPC', () => {
  const clock = new ManualClock();
  const tools = { clock, wheel: new Wheel(clock), names: new NameLookup(clock) };
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
    channel = new GrpcChannel({ id: 's', name: 's', host: '127.0.0.1', port }, tools);
  });
  after(() => {
    channel.close();
    service.close();
  });

  const ends =
    (status: string, message: Uint8Array = Buffer.alloc(0), { why = 'so', fields = ofGrpc }: Ending = {}) =>
    (stream: ServerHttp2Stream) => {
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': why }));
      stream.respond({ ':status': 200, ...fields }, { waitForTrailers: true });
      stream.end(message);
    };
  const resets = (code: number) => (stream: ServerHttp2Stream) => stream.close(code);
  const asked = (timeoutMs: number): Promise<unknown> =>
    channel
      .unary('/a.B/C', Buffer.from('in'), { onGivenUp: undefined }, { timeoutMs })
      .then(String, (error: unknown) => (isTimeout(error) ? 'timed out' : String(error)));

  it('tells the service how long it may take', async () => {
    answer = ends('0', frameOf(Buffer.from('out')));
    expect(await asked(1500)).to.equal('out');
    expect(told).to.equal('1500m');
    expect(await asked(0)).to.equal('out');
    expect(told).to.equal(undefined);
  });

  // The last one counted: a service that said no and then yes had allowed.
  it('that is answered twice has failed, since the meant answer is unknown', async () => {
    answer = ends('0', Buffer.concat([frameOf(Buffer.from('no')), frameOf(Buffer.from('yes'))]));
    expect(await asked(0)).to.equal('ExternalFailure: 2 answers to one question');
  });

  it('that is answered with a page has failed, though the page looks like a message', async () => {
    for (const [contentType, outcome] of [
      ['text/html', 'ExternalFailure: answers with something else than gRPC'],
      ['application/grpc-web', 'ExternalFailure: answers with something else than gRPC'],
      ['application/grpc+proto', 'out'],
      [undefined, 'out'],
    ] as const) {
      const fields = contentType === undefined ? {} : { 'content-type': contentType };
      answer = ends('0', frameOf(Buffer.from('out')), { fields });
      expect(await asked(0), contentType).to.equal(outcome);
    }
  });

  it('tells why it failed in words, not in the bytes of the wire', async () => {
    for (const [sent, told] of [
      ['caf%C3%A9 is closed', 'café is closed'],
      ['100 %', '100 %'],
    ] as const) {
      answer = ends('14', undefined, { why: sent });
      expect(await asked(0)).to.equal(`ExternalFailure: status 14: ${told}`);
    }
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
      expect(await asked(1001)).to.match(/^ExternalFailure: (status 1: so|the stream broke off)/);
    }
  });

  it('keeps what trailers said of a failure when a reset follows them', () => {
    const failures: unknown[] = [];
    const receiver = { onMessage() {}, onEnd: (failure: unknown) => failures.push(String(failure)) };
    const owner = { clock, wheel: tools.wheel, forget() {}, place() {} };
    const call = new RunningCall(owner, receiver, new Uint8Array(0), {});
    const fields = (of: Record<string, string>) => ({ status: 200, first: (name: string) => of[name] });
    const stream = { fields: fields({ 'grpc-status': '13', 'grpc-message': 'broken' }), sendHead() {} };
    call.begin(stream as unknown as Stream, { onMessage() {} });
    call.onHead(stream as unknown as Stream);
    call.onReset(stream as unknown as Stream, { ...reset, untouched: false });
    expect(failures).to.deep.equal(['ExternalFailure: status 13: broken']);
  });

  it('is made once more, and only once, where the service says that it has done nothing with it', async () => {
    let refused = 0;
    answer = (stream) =>
      (refused++ === 0 ? resets(constants.NGHTTP2_REFUSED_STREAM) : ends('0', frameOf(Buffer.of(7))))(stream);
    expect(await asked(1000)).to.equal('\u0007');
    answer = resets(constants.NGHTTP2_REFUSED_STREAM);
    expect(await asked(1000)).to.match(/^ExternalFailure: the stream broke off/);
  });

  it('has as many beside it as come, over more connections than one when a service takes few at a time', async () => {
    const held: ServerHttp2Stream[] = [];
    let sessions = 0;
    const few = createServer({ settings: { maxConcurrentStreams: 10 } })
      .on('session', () => sessions++)
      .on('stream', (stream: ServerHttp2Stream) => {
        stream.resume().on('end', () => {
          held.push(stream);
          if (held.length === 50) for (const each of held) ends('0', frameOf(Buffer.of(1)))(each);
          else if (held.length > 50) ends('0', frameOf(Buffer.of(1)))(stream);
        });
      });
    const port = await listening(few as unknown as Server);
    const one = new GrpcChannel({ id: 's', name: 's', host: '127.0.0.1', port }, tools);
    const all = Array.from({ length: 100 }, () => one.unary('/a.B/C', Buffer.of(1), { onGivenUp: undefined }, {}));
    expect((await Promise.all(all)).map((bytes) => bytes[0])).to.deep.equal(Array(100).fill(1));
    expect(sessions).to.be.within(5, 8);
    one.close();
    few.close();
  });

  it('goes over TLS under the name that is configured, and to no server whose certificate is for another', async () => {
    const secured = createSecureServer({ ...certified }).on('stream', (stream: ServerHttp2Stream) => {
      stream.resume().on('end', () => ends('0', frameOf(Buffer.of(1)))(stream));
    });
    const port = await listening(secured as unknown as Server);
    const named = async (sni: string): Promise<string> => {
      const place = {
        id: 's',
        name: 's',
        host: '127.0.0.1',
        port,
        options: { tls: { mode: 'tls' as const, ca, sni } },
      };
      const one = new GrpcChannel(place, tools);
      const answer = await one.unary('/a.B/C', Buffer.of(1), { onGivenUp: undefined }, {}).then(
        () => 'answered',
        (error: unknown) => String(error),
      );
      one.close();
      return answer;
    };
    expect(await named('localhost')).to.equal('answered');
    expect(await named('elsewhere.test')).to.equal(
      'ExternalFailure: unreachable: upstream TLS handshake failed: its certificate is not for elsewhere.test',
    );
    secured.close();
  });

  it('that is given up is over at once, also where no connection stands yet', async () => {
    const one = new GrpcChannel({ id: 's', name: 's', host: '127.0.0.1', port: 1 }, tools);
    const waiting: AnswerWaiter = { onGivenUp: undefined };
    const refused = one.unary('/a.B/C', Buffer.of(1), waiting, {}).catch(String);
    waiting.onGivenUp?.(notAwaited());
    expect(await refused).to.equal('ExternalFailure: the caller has gone');
    const other = await one.unary('/a.B/C', Buffer.of(1), { onGivenUp: undefined }, {}).catch(String);
    expect(other).to.equal('ExternalFailure: unreachable: ECONNREFUSED');
    const soon = await one.unary('/a.B/C', Buffer.of(1), { onGivenUp: undefined }, {}).catch(String);
    expect(soon).to.equal('ExternalFailure: unreachable');
  });
});

describe('messages of gRPC', () => {
  it('are whole however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 })),
        fc.infiniteStream(fc.integer({ min: 1, max: 30 })),
        (sent, cuts) => {
          const bytes = Buffer.concat(sent.map(frameOf));
          const reader = new MessageReader();
          const got: Buffer[] = [];
          for (let at = 0; at < bytes.length; ) {
            const end = at + cuts.next().value;
            // What was read is overwritten, as it is on a connection.
            const chunk = Buffer.from(bytes.subarray(at, end));
            reader.read(chunk, (message) => got.push(message) > 0);
            chunk.fill(0xff);
            at = end;
          }
          expect(got.map((each) => each.toString('hex'))).to.deep.equal(
            sent.map((each) => Buffer.from(each).toString('hex')),
          );
          expect(reader.partial).to.equal(false);
        },
      ),
    );
  });
});
