// Middleware grpcWeb with Connect's client of gRPC-Web, as browsers run it, and an upstream of gRPC over HTTP/2.
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import {
  create,
  createFileRegistry,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, file_google_protobuf_wrappers, StringValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-web';
import { expect } from 'chai';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';

const text = '.google.protobuf.StringValue';
const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    ...{ name: 'shop.proto', package: 'shop', syntax: 'proto3', dependency: ['google/protobuf/wrappers.proto'] },
    service: [
      {
        name: 'Cart',
        method: [
          { name: 'Get', inputType: text, outputType: text },
          { name: 'List', inputType: text, outputType: text, serverStreaming: true },
        ],
      },
    ],
  }),
  (name) => (name === 'google/protobuf/wrappers.proto' ? file_google_protobuf_wrappers : undefined),
);
const methods = registry.getService('shop.Cart')?.method;
type Text = typeof StringValueSchema;
const get = methods?.get as DescMethodUnary<Text, Text>;
const list = methods?.list as DescMethodServerStreaming<Text, Text>;

const frameOf = (value: string): Buffer => {
  const content = toBinary(StringValueSchema, create(StringValueSchema, { value }));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
};

const valueIn = (body: Buffer): string => fromBinary(StringValueSchema, body.subarray(5)).value;

describe('middleware grpcWeb and the client of Connect', () => {
  let bed: MiddlewareBed;
  let upstream: Http2Server;
  let transport: Transport;
  let received: { readonly headers: IncomingHttpHeaders; readonly value: string } | undefined;
  let answer: (stream: ServerHttp2Stream) => void;

  const answers =
    (values: readonly string[], trailers: Readonly<Record<string, string>>) =>
    (stream: ServerHttp2Stream): void => {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc+proto', 'x-a': 'b' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ ...trailers }));
      for (const value of values) stream.write(frameOf(value));
      stream.end();
    };

  beforeEach(async () => {
    bed = new MiddlewareBed();
    received = undefined;
    upstream = createServer();
    upstream.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', () => {});
      stream.on('end', () => {
        received = { headers, value: valueIn(Buffer.concat(chunks)) };
        if (!stream.destroyed) answer(stream);
      });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    await bed.serve([{ type: 'grpcWeb' }], {
      route: { match: { pathPrefix: '/shop.Cart/' }, forward: { destinations: [{ destinationId: 'grpc' }] } },
      more: {
        destinations: [{ id: 'grpc', name: 'grpc', host: '127.0.0.1', port, options: { http2: true } }],
        routes: [
          { id: 'gone', name: 'gone', middlewareIds: ['m0'], forward: { destinations: [{ destinationId: 'x' }] } },
        ],
      },
    });
    transport = createGrpcWebTransport({ baseUrl: `http://127.0.0.1:${bed.port}` });
  });
  afterEach(async () => {
    await bed.end();
    await new Promise((resolve) => upstream.close(resolve));
  });

  const ask = (through = transport, timeoutMs?: number) =>
    through.unary(get, undefined, timeoutMs, { 'x-token': 't' }, create(StringValueSchema, { value: 'asked' }));
  const failure = async (call: Promise<unknown>): Promise<ConnectError> => {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.an.instanceOf(ConnectError);
    return error as ConnectError;
  };

  it('a unary call brings message, headers, trailers and deadline through', async () => {
    answer = answers(['told'], { 'grpc-status': '0', 'x-last': 'c' });
    const { message, header, trailer } = await ask(transport, 20_000);
    expect(message.value).to.equal('told');
    expect([header.get('x-a'), trailer.get('x-last')]).to.deep.equal(['b', 'c']);
    expect(received?.value).to.equal('asked');
    expect(received?.headers).to.include({ 'x-token': 't', te: 'trailers', 'content-type': 'application/grpc+proto' });
    expect(received?.headers['grpc-timeout']).to.match(/^\d+m$/);
    expect(received?.headers).to.not.have.any.keys('x-grpc-web');
  });

  it('a stream of the server brings its messages in order, and its end', async () => {
    const values = Array.from({ length: 200 }, (_, at) => `${at} ${'x'.repeat(at * 7)}`);
    answer = answers(values, { 'grpc-status': '0', 'x-last': 'c' });
    const sent = (async function* () {
      yield create(StringValueSchema, { value: 'all' });
    })();
    const stream = await transport.stream(list, undefined, undefined, undefined, sent);
    const got: string[] = [];
    for await (const { value } of stream.message) got.push(value);
    expect(got).to.deep.equal(values);
    expect(stream.trailer.get('x-last')).to.equal('c');
  });

  it('a status of the upstream is that of the call, behind messages and alone', async () => {
    answer = answers([], { 'grpc-status': '5', 'grpc-message': 'no cart %C3%A9' });
    expect(await failure(ask())).to.include({ code: Code.NotFound, rawMessage: 'no cart é' });
    answer = (stream) =>
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7', 'grpc-message': 'not yours' },
        { endStream: true },
      );
    expect(await failure(ask())).to.include({ code: Code.PermissionDenied, rawMessage: 'not yours' });
  });

  it('an upstream that breaks off is an error, never a whole answer', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' });
      stream.write(frameOf('half'), () => stream.close(2));
    };
    expect((await failure(ask())).code).to.be.oneOf([Code.Internal, Code.Unavailable, Code.Unknown, Code.DataLoss]);
  });

  it('an error of the proxy itself is the code of its status', async () => {
    const gone = createGrpcWebTransport({ baseUrl: `http://127.0.0.1:${bed.port}/gone` });
    expect((await failure(ask(gone))).code).to.be.oneOf([Code.Unavailable, Code.Unknown, Code.Internal]);
  });
});
