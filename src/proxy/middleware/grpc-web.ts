// Middleware type grpcWeb (contract.md §8.11): a call of gRPC-Web (“gRPC Web” of the gRPC protocol documents), binary or as text, goes on as
// gRPC, and the trailers of the response come last in its body. All other requests pass untouched.
import type { MiddlewareExchange, MiddlewarePhases } from '../exchange/phase.ts';
import type { DryRun } from './dry-run.ts';
import { Base64Decoder } from './grpc-web/base64-decoder.ts';
import { ConvertedBody } from './grpc-web/converted-body.ts';
import { trailerFrame } from './grpc-web/trailer-frame.ts';
import { rejection } from './rejection.ts';

/** Content type of gRPC-Web: its form, and what follows, `+proto` or parameters. */
const webType = /^application\/grpc-web(-text)?(?=$|[+; ])(.*)$/i;
/** Content type of gRPC. */
const grpcType = /^application\/grpc(?=$|[+; ])(.*)$/i;

const malformed = rejection(400, 'malformed request body');

/** Form in which the response goes to the client. */
type Form = 'binary' | 'text';

export const grpcWeb: MiddlewarePhases & { readonly dryRun: DryRun } = {
  dryRun(request) {
    const type = toGrpc(request.header('content-type'));
    if (type === undefined) return {};
    return {
      changes: [
        { name: 'Content-Type', value: type, append: false },
        { name: 'X-Grpc-Web', value: null, append: false },
      ],
    };
  },

  onRequest(exchange, slot) {
    const { request } = exchange;
    const sent = request.header('content-type');
    const type = toGrpc(sent);
    if (sent === undefined || type === undefined) return undefined;
    const isText = webType.exec(sent)?.[1] !== undefined;
    exchange.state[slot] = formOf(request.header('accept'), isText);
    exchange.setRequestField('Content-Type', type);
    exchange.removeRequestField('X-Grpc-Web');
    if (isText) decode(exchange);
    return undefined;
  },

  onResponse(exchange, slot) {
    const { response, state } = exchange;
    const form = state[slot] as Form | undefined;
    const [, rest] = (form && grpcType.exec(response.header('content-type') ?? '')) ?? [];
    if (rest === undefined) return undefined;
    response.edits.set('Content-Type', `application/grpc-web${form === 'text' ? '-text' : ''}${rest}`);
    response.edits.remove('trailer');
    exchange.wrapResponseBody((source) => new ConvertedBody(source, form === 'text' ? asText : asBinary));
    return undefined;
  },
};

/** Returns the type of the call as gRPC; undefined for all that is no gRPC-Web. */
function toGrpc(type: string | undefined): string | undefined {
  const found = type === undefined ? null : webType.exec(type);
  return found === null ? undefined : `application/grpc${found[2]}`;
}

/** Returns the form that Accept names, else that of the request. */
function formOf(accept: string | undefined, isText: boolean): Form {
  if (accept?.includes('application/grpc-web-text') === true) return 'text';
  if (accept?.includes('application/grpc-web') === true) return 'binary';
  return isText ? 'text' : 'binary';
}

function decode(exchange: MiddlewareExchange): void {
  exchange.wrapRequestBody((source) => {
    const decoder = new Base64Decoder();
    return new ConvertedBody(source, {
      chunk: (chunk) => decoder.decode(chunk),
      end: (trailers) => (decoder.isWhole ? { last: undefined, trailers } : undefined),
      onRefused: () => exchange.interrupt(malformed),
    });
  });
}

const asBinary = {
  chunk: (chunk: Buffer) => chunk,
  end: (trailers: string) => ({ last: trailerFrame(trailers), trailers: '' }),
};

/** Conversion to base64: chunks are padded one by one, so that no byte waits for the next one. */
const asText = {
  chunk: (chunk: Buffer) => Buffer.from(chunk.toString('base64'), 'latin1'),
  end(trailers: string) {
    const frame = trailerFrame(trailers);
    return { last: frame && Buffer.from(frame.toString('base64'), 'latin1'), trailers: '' };
  },
};
