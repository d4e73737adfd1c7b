// gRPC through the proxy, both sides spoken by gRPC's own library for Node: every kind of call, what comes with it, and
// what callers hear when something fails on the way.
import {
  Client,
  status as code,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { forwarding, ProxyBed, rawExchange } from '../../../support/proxy-bed.ts';

const asIs = (message: Buffer): Buffer => message;
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  ...{ path: `/test.Echo/${name}`, requestStream, responseStream },
  ...{ requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs },
});
const echo = {
  unary: method('Unary', false, false),
  down: method('Down', false, true),
  up: method('Up', true, false),
  both: method('Both', true, true),
} satisfies ServiceDefinition;

describe('gRPC', () => {
  let bed: ProxyBed;
  let port: number;
  let client: Client;
  let cancelled = 0;
  let deadlineMs = 0;

  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    cancelled = 0;
  });
  afterEach(async () => {
    client.close();
    await bed.end();
  });

  const serve = async (): Promise<number> => {
    const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
    server.addService(echo, {
      unary(call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) {
        deadlineMs = Number(call.getDeadline()) - Date.now();
        const text = call.request.toString();
        if (text === 'fail') {
          const metadata = new Metadata();
          metadata.set('x-detail', 'why');
          callback({ code: code.FAILED_PRECONDITION, details: 'no ünary', metadata });
          return;
        }
        if (text === 'wait') {
          call.on('cancelled', () => cancelled++);
          return;
        }
        call.sendMetadata(call.metadata);
        const trailers = new Metadata();
        trailers.set('x-trailer', 'behind');
        callback(null, call.request, trailers);
      },
      down(call: ServerWritableStream<Buffer, Buffer>) {
        for (let i = 0; i < 100; i++) call.write(Buffer.from(`${i}`));
        call.end();
      },
      up(call: ServerReadableStream<Buffer, Buffer>, callback: sendUnaryData<Buffer>) {
        let bytes = 0;
        call.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        call.on('end', () => callback(null, Buffer.from(String(bytes))));
      },
      both(call: ServerDuplexStream<Buffer, Buffer>) {
        call.on('data', (chunk: Buffer) => call.write(chunk));
        call.on('end', () => call.end());
      },
    });
    const bound = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, at) =>
        error ? reject(error) : resolve(at),
      );
    });
    bed.atEnd(async () => server.forceShutdown());
    return bound;
  };
  const install = (upstreamPort: number, forward: object = {}) =>
    bed.install(
      forwarding(port, upstreamPort, { listener: { http2: true }, destination: { options: { http2: true } }, forward }),
    );
  const unary = (message: Buffer | string, metadata = new Metadata(), options: object = {}) =>
    new Promise<{
      error: ServiceError | null;
      body: Buffer | undefined;
      headers: Metadata;
      trailers: Metadata | undefined;
    }>((resolve) => {
      let headers = new Metadata();
      let trailers: Metadata | undefined;
      const call = client.makeUnaryRequest(
        echo.unary.path,
        asIs,
        asIs,
        Buffer.from(message),
        metadata,
        options,
        (error, body) => {
          setImmediate(() => resolve({ error, body, headers, trailers }));
        },
      );
      call.on('metadata', (received: Metadata) => {
        headers = received;
      });
      call.on('status', (status: { metadata: Metadata }) => {
        trailers = status.metadata;
      });
    });

  it('carries all four kinds of calls', async () => {
    await install(await serve());
    const metadata = new Metadata();
    metadata.set('x-one', 'two');
    metadata.set('x-bytes-bin', Buffer.from([0, 1, 255]));
    const { error, body, headers, trailers } = await unary('hello', metadata);
    expect([error, body?.toString()]).to.deep.equal([null, 'hello']);
    expect(headers.get('x-one')).to.deep.equal(['two']);
    expect(headers.get('x-bytes-bin')).to.deep.equal([Buffer.from([0, 1, 255])]);
    expect(trailers?.get('x-trailer')).to.deep.equal(['behind']);

    const down = client.makeServerStreamRequest(echo.down.path, asIs, asIs, Buffer.from('x'));
    const received: string[] = [];
    for await (const message of down) received.push(message.toString());
    expect(received).to.have.length(100);

    const bytes = await new Promise((resolve, reject) => {
      const up = client.makeClientStreamRequest<Buffer, Buffer>(echo.up.path, asIs, asIs, (failure, reply) =>
        failure ? reject(failure) : resolve(reply?.toString()),
      );
      for (let i = 0; i < 100; i++) up.write(Buffer.alloc(1_000));
      up.end();
    });
    expect(bytes).to.equal('100000');

    const both = client.makeBidiStreamRequest<Buffer, Buffer>(echo.both.path, asIs, asIs);
    for (let i = 0; i < 10; i++) {
      both.write(Buffer.from(`m${i}`));
      expect(await new Promise((resolve) => both.once('data', (chunk: Buffer) => resolve(chunk.toString())))).to.equal(
        `m${i}`,
      );
    }
    both.end();
    await new Promise((resolve) => both.on('end', resolve));
  });

  it('carries messages of megabytes and many calls at a time', async () => {
    await install(await serve());
    const large = Buffer.alloc(3_000_000, 'x');
    expect((await unary(large)).body?.equals(large)).to.equal(true);
    const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => unary(`call ${i}`)));
    answers.forEach(({ error, body }, i) => {
      expect([error, body?.toString()]).to.deep.equal([null, `call ${i}`]);
    });
  });

  it('gets failures as gRPC statuses, the upstream’s and the proxy’s', async () => {
    const upstreamPort = await serve();
    await install(upstreamPort);
    const { error } = await unary('fail');
    expect([error?.code, error?.details]).to.deep.equal([code.FAILED_PRECONDITION, 'no ünary']);
    expect(error?.metadata.get('x-detail')).to.deep.equal(['why']);
    await install(await freePort());
    const refused = await unary('x');
    expect(refused.error?.code).to.equal(code.UNAVAILABLE);
    expect(refused.error?.details).to.match(/^connection_refused: /);
    await bed.install({ listeners: [{ id: 'l', name: 'l', port, http2: true }] });
    expect((await unary('x')).error?.code).to.equal(code.UNIMPLEMENTED);
  });

  // They were counted as 200: a destination that was down had answered every call well.
  it('counts calls without an upstream response by the status of the failure', async () => {
    const nobody = await freePort();
    const metrics = { collect: { endpoint: true } };
    await bed.install(
      forwarding(port, nobody, { listener: { http2: true, metrics }, destination: { options: { http2: true } } }),
    );
    expect((await unary('x')).error?.code).to.equal(code.UNAVAILABLE);
    await eventually(async () => {
      const shown = await rawExchange(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      const failed = 'status_code="502",status_class="5xx"} 1';
      expect(shown).to.contain(`sluice_destination_requests_total{destination="d",${failed}`);
      expect(shown).to.contain(`endpoint="127.0.0.1:${nobody}",${failed}`);
      expect(shown).to.contain('type="connection_refused",status_code="502"} 1');
      // What the caller was sent.
      expect(shown).to.contain('method="POST",status_code="200",status_class="2xx"} 1');
    });
  });

  it('cancels upstream calls that the caller cancels, and passes deadlines on, capped by the route', async () => {
    const upstreamPort = await serve();
    await install(upstreamPort, { maxGrpcTimeout: '5s' });
    await unary('x', new Metadata(), { deadline: Date.now() + 60_000 });
    expect(deadlineMs).to.be.within(1, 5_000);
    const waiting = unary('wait', new Metadata(), { deadline: Date.now() + 1_500 });
    expect((await waiting).error?.code).to.equal(code.DEADLINE_EXCEEDED);
    await eventually(() => expect(cancelled).to.equal(1));
  });

  it('continues through activations', async () => {
    const upstreamPort = await serve();
    await install(upstreamPort);
    const both = client.makeBidiStreamRequest<Buffer, Buffer>(echo.both.path, asIs, asIs);
    both.on('error', () => {});
    for (let i = 0; i < 10; i++) {
      await install(upstreamPort, { timeouts: { request: `${100 + i}s` } });
      both.write(Buffer.from(`m${i}`));
      expect(await new Promise((resolve) => both.once('data', (chunk: Buffer) => resolve(chunk.toString())))).to.equal(
        `m${i}`,
      );
      expect((await unary('x')).error).to.equal(null);
    }
    both.end();
  });
});
