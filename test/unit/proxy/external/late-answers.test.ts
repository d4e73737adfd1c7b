// State of an exchange that ends while a service is asked: its object goes on with other requests, and so does the
// connection that its response came on.
import { type ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { expect } from 'chai';
import type { Middleware } from '../../../../src/model/middleware.ts';
import { eventually } from '../../../support/eventually.ts';
import { GrpcService } from '../../../support/grpc-service.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';

interface Asked {
  readonly message: Record<string, unknown>;
  readonly response: ServerResponse;
  gone: boolean;
}

describe('an exchange that ends while a service is asked', () => {
  let bed: MiddlewareBed;
  let session: ClientHttp2Session | undefined;
  let asked: Asked[];
  /** Returns whether the service answers a message by itself. */
  let answers: (asked: Asked) => unknown;
  beforeEach(() => {
    bed = new MiddlewareBed();
    asked = [];
  });
  afterEach(async () => {
    session?.destroy();
    session = undefined;
    await bed.end();
  });

  const service = async (): Promise<number> => {
    return bed.bed.upstream((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const one: Asked = {
          message: text === '' ? {} : JSON.parse(text),
          response,
          gone: false,
        };
        response.on('close', () => {
          one.gone = true;
        });
        asked.push(one);
        const said = answers(one);
        if (said !== undefined) response.end(JSON.stringify(said));
      });
    });
  };

  const phasesSeen = () => asked.map(({ message }) => message.phase);
  const all = { requestHeaders: 'send', requestBody: 'buffered', responseBody: 'buffered' } as const;
  const processedBy = (config: object): Omit<Middleware, 'id' | 'name'> => ({
    type: 'extProc',
    extProc: { destinationId: 's', mode: 'http', phaseTimeout: '10m', allowOnError: true, ...config },
  });

  const begin = (headers: Record<string, string>, body: string) => {
    session ??= connect(`http://127.0.0.1:${bed.port}`);
    const stream = session.request({ ':method': 'POST', ':path': '/', ...headers });
    stream.on('error', () => {});
    stream.end(body);
    const answer = new Promise<{ status: unknown; body: string }>((resolve) => {
      let status: unknown;
      const chunks: Buffer[] = [];
      stream.on('response', (fields) => {
        status = fields[':status'];
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('close', () => resolve({ status, body: Buffer.concat(chunks).toString() }));
    });
    return { stream, answer };
  };

  // The late failure went on with the object of the exchange, which was the next stream's by then: its body was held for
  // the first one's processor and was replaced by what that said.
  it('extProc: leaves the next stream of the connection alone', async () => {
    const port = await service();
    let first = true;
    answers = ({ message }) => {
      if (first) {
        first = false;
        return undefined;
      }
      const replaceBody = Buffer.from(`seen ${asked.length}`).toString('base64');
      return message.phase === 'requestBody' ? { action: message.phase, replaceBody } : { action: message.phase };
    };
    await bed.serve([processedBy({ phases: { ...all, responseHeaders: 'skip', responseBody: 'none' } })], {
      listener: { http2: true },
      more: { destinations: [{ id: 's', name: 's', host: '127.0.0.1', port }] },
    });
    const { stream } = begin({}, 'first');
    await eventually(() => expect(phasesSeen()).to.deep.equal(['requestHeaders']));
    stream.close(constants.NGHTTP2_CANCEL);
    const { answer } = begin({}, 'second');
    expect((await answer).status).to.equal(200);
    await eventually(() => expect(asked[0]?.gone).to.equal(true));
    expect(phasesSeen()).to.deep.equal(['requestHeaders', 'requestHeaders', 'requestBody']);
    expect(bed.lastBody).to.equal('seen 3');
  });

  // The chunk that was being shown went into the next stream, or its refusal took the place of that one's response.
  for (const allowOnError of [true, false]) {
    it(`extProc with allowOnError ${allowOnError}: what it held of a streamed body is for nobody else`, async () => {
      let shown = 0;
      const name = 'envoy.service.ext_proc.v3.ExternalProcessor';
      const processor = new GrpcService().stream('envoy-processing.proto', name, 'Process', (message, stream) => {
        if (++shown > 1) stream.write('response_body' in message ? { response_body: {} } : {});
      });
      bed.bed.atEnd(async () => processor.stop());
      await processor.start();
      const upstream = await bed.bed.upstream((request, response) => response.end(`body of ${request.url}`));
      const phases = { requestHeaders: 'skip', responseHeaders: 'skip', responseBody: 'streamed' };
      await bed.serve([processedBy({ mode: 'grpc', protocol: 'envoy', allowOnError, phases })], {
        listener: { http2: true },
        route: { forward: { destinations: [{ destinationId: 'up' }] } },
        more: {
          destinations: [
            { id: 's', name: 's', host: '127.0.0.1', port: processor.port },
            { id: 'up', name: 'up', host: '127.0.0.1', port: upstream },
          ],
        },
      });
      const { stream } = begin({ ':path': '/first' }, '');
      await eventually(() => expect(shown).to.equal(1));
      stream.close(constants.NGHTTP2_CANCEL);
      const { answer } = begin({ ':path': '/second' }, '');
      expect(await answer).to.deep.equal({ status: 200, body: 'body of /second' });
    });
  }

  // The late failure removed what a middleware of the next stream had set.
  it('extAuthz: leaves the next stream of the connection alone', async () => {
    const port = await service();
    answers = () => undefined;
    const check = { destinationId: 's', decisionTimeout: '10m' };
    const onAllow = { copyToUpstream: ['x-user'] };
    await bed.serve(
      [
        { type: 'headers', headers: { requestHeadersToAdd: [{ key: 'x-user', value: 'guest' }] } },
        { type: 'extAuthz', extAuthz: { ...check, failureModeAllow: true, onAllow } },
        { type: 'extAuthz', extAuthz: check },
      ],
      {
        route: { middlewareOverrides: { m1: { onlyWhen: ["request.path == '/first'"] } } },
        listener: { http2: true },
        more: { destinations: [{ id: 's', name: 's', host: '127.0.0.1', port }] },
      },
    );
    const { stream } = begin({ ':path': '/first' }, '');
    await eventually(() => expect(asked).to.have.length(1));
    stream.close(constants.NGHTTP2_CANCEL);
    const { answer } = begin({ ':path': '/second' }, '');
    await eventually(() => expect(asked.map(({ gone }) => gone)).to.deep.equal([true, false]));
    asked[1]?.response.end('{}');
    expect((await answer).status).to.equal(200);
    expect(bed.lastSent('x-user')).to.equal('guest');
  });

  // Regression: an exchange that had ended took along the connection of its held response, and the next request got no
  // answer at all.
  it('leaves the connection of its held response to its present user', async () => {
    const port = await service();
    answers = ({ message }) => (asked.length === 1 ? undefined : { action: message.phase });
    const reached: string[] = [];
    let release: () => void = () => {};
    const upstream = await bed.bed.upstream((request, response) => {
      reached.push(request.url ?? '');
      if (request.url === '/first') response.end('first');
      else release = () => response.end('second');
    });
    const place = { host: '127.0.0.1', port: upstream, options: { maxConnsPerHost: 1 } };
    const phases = { ...all, requestHeaders: 'skip', requestBody: 'none', responseHeaders: 'skip' };
    await bed.serve([processedBy({ phases })], {
      route: { forward: { destinations: [{ destinationId: 'up' }] } },
      more: {
        destinations: [
          { id: 's', name: 's', host: '127.0.0.1', port },
          { id: 'up', name: 'up', ...place },
        ],
      },
    });
    const wire = bed.bed.wire(bed.port);
    wire.send('GET /first HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => expect(phasesSeen()).to.deep.equal(['responseBody']));
    const second = bed.ask({ path: '/second' });
    await eventually(() => expect(reached).to.deep.equal(['/first', '/second']));
    wire.destroy();
    await eventually(() => expect(asked[0]?.gone).to.equal(true));
    release();
    const { status, body } = await second;
    expect([status, body]).to.deep.equal([200, 'second']);
  });
});
