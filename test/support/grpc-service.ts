// A gRPC service of a test, on gRPC's own implementation and descriptions of the messages that are not the product's.
import { fileURLToPath } from 'node:url';
import {
  type GrpcObject,
  loadPackageDefinition,
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

export type Fields = Record<string, unknown>;

/** Unary method; undefined never answers. */
export type Unary = (request: Fields) => Fields | Error | undefined;

/** Stream of a processor as a test answers it. */
interface ProcessorStream {
  write(answer: Fields): void;
  end(): void;
  /** Ends the call with an error. */
  fail(): void;
}

export type Process = (request: Fields, stream: ProcessorStream, nth: number) => void;

const options = { keepCase: true, longs: Number, defaults: false, oneofs: true };

function serviceOf(file: string, name: string): ServiceClientConstructor {
  const path = fileURLToPath(new URL(`./services/${file}`, import.meta.url));
  let found: unknown = loadPackageDefinition(loadSync(path, options));
  for (const part of name.split('.')) found = (found as GrpcObject)[part];
  return found as ServiceClientConstructor;
}

export class GrpcService {
  readonly #server = new Server();
  port = 0;
  /** Streams or calls that were begun. */
  calls = 0;
  /** Told the value of `traceparent` of each call. */
  hears: (traceparent: unknown) => void = () => {};

  unary(file: string, name: string, method: string, answer: Unary): this {
    this.#server.addService(serviceOf(file, name).service, {
      [method]: (
        call: { request: Fields; metadata: Metadata },
        reply: (error: object | null, value?: Fields) => void,
      ) => {
        this.calls++;
        this.hears(call.metadata.get('traceparent')[0]);
        const value = answer(call.request);
        if (value instanceof Error) reply({ code: 14, details: value.message });
        else if (value !== undefined) reply(null, value);
      },
    });
    return this;
  }

  stream(file: string, name: string, method: string, process: Process): this {
    this.#server.addService(serviceOf(file, name).service, {
      [method]: (
        call: NodeJS.EventEmitter & {
          metadata: Metadata;
          write(value: Fields): void;
          end(): void;
          emit(name: string, ...rest: unknown[]): boolean;
        },
      ) => {
        this.calls++;
        this.hears(call.metadata.get('traceparent')[0]);
        let nth = 0;
        const stream: ProcessorStream = {
          write: (answer) => call.write(answer),
          end: () => call.end(),
          fail: () => call.emit('error', { code: 13, details: 'broken' }),
        };
        call.on('data', (request: Fields) => process(request, stream, nth++));
        call.on('end', () => call.end());
        call.on('error', () => {});
      },
    });
    return this;
  }

  async start(): Promise<number> {
    this.port = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    return this.port;
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}
