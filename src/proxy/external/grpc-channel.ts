// Calls to one gRPC service: all of a worker share one HTTP/2 connection per destination, made when the first call needs
// it and again when it has ended. A service that cannot be reached is not tried more often than a back-off allows.
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import type { Clock } from '../../clock.ts';
import type { Destination } from '../../model/destination.ts';
import { ExternalFailure } from './external-failure.ts';
import { frameOf, MessageReader } from './grpc-frames.ts';
import { connectMsOf, originOf, tlsOptionsOf } from './service-address.ts';

/** Whoever makes a call. Exactly one `onEnd` comes last. */
export interface CallReceiver {
  onMessage(message: Buffer): void;
  /** Undefined: the service ended the call with status OK. */
  onEnd(failure: ExternalFailure | undefined): void;
}

export interface Call {
  send(message: Uint8Array): void;
  /** Nothing more is going to be sent. */
  end(): void;
  /** Nobody waits any more; the receiver hears nothing more. */
  cancel(): void;
}

export interface CallOptions {
  /** The service is told, and has to keep to it itself; 0 = nothing. */
  readonly timeoutMs?: number;
  /** On behalf of which span. */
  readonly traceparent?: string | undefined;
}

const backoffMsMin = 50;
const backoffMsMax = 1_000;
/** With calls open and nothing heard, the service is asked whether it is there; it has as long to answer. */
const keepAliveMs = 20_000;

export class GrpcChannel {
  readonly #destination: Destination;
  readonly #clock: Clock;
  #session: ClientHttp2Session | undefined;
  #failures = 0;
  #closedUntilMs = 0;

  constructor(destination: Destination, clock: Clock) {
    this.#destination = destination;
    this.#clock = clock;
  }

  /** `path` is `/package.Service/Method`. Throws ExternalFailure when the service cannot even be tried. */
  call(path: string, receiver: CallReceiver, { timeoutMs = 0, traceparent }: CallOptions = {}): Call {
    const session = this.#ready();
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      [constants.HTTP2_HEADER_TE]: 'trailers',
      ...(timeoutMs > 0 ? { 'grpc-timeout': `${Math.ceil(timeoutMs)}m` } : {}),
      ...(traceparent === undefined ? {} : { traceparent }),
    });
    return new RunningCall(stream, receiver);
  }

  /** One question, one answer. Rejects with ExternalFailure. */
  unary(path: string, message: Uint8Array, signal: AbortSignal, options: CallOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      const receiver: CallReceiver = {
        onMessage(each) {
          answer = Buffer.from(each);
        },
        onEnd(failure) {
          signal.removeEventListener('abort', abort);
          if (answer !== undefined && failure === undefined) resolve(answer);
          else reject(failure ?? new ExternalFailure('ended without an answer'));
        },
      };
      const abort = (): void => {
        call?.cancel();
        reject(new ExternalFailure('timeout'));
      };
      let call: Call | undefined;
      try {
        call = this.call(path, receiver, options);
      } catch (error) {
        reject(error);
        return;
      }
      signal.addEventListener('abort', abort, { once: true });
      call.send(message);
      call.end();
    });
  }

  /** Calls under way may finish. */
  close(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  #ready(): ClientHttp2Session {
    const known = this.#session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    if (this.#clock.monotonicMs() < this.#closedUntilMs) throw new ExternalFailure('unreachable');
    return this.#open();
  }

  #open(): ClientHttp2Session {
    const session = this.#connect();
    this.#session = session;
    const connectMs = connectMsOf(this.#destination);
    const cancel =
      connectMs > 0
        ? this.#clock.after(connectMs, () => session.destroy(new ExternalFailure('not connected in time')))
        : () => {};
    let connected = false;
    session.once('connect', () => {
      cancel();
      connected = true;
      this.#failures = 0;
    });
    const drop = (): void => {
      cancel();
      if (this.#session === session) this.#session = undefined;
    };
    session.on('error', drop);
    session.once('close', () => {
      drop();
      if (!connected) this.#backOff();
    });
    session.on('goaway', () => {
      if (this.#session === session) this.#session = undefined;
    });
    this.#keepAlive(session);
    session.unref();
    return session;
  }

  #connect(): ClientHttp2Session {
    try {
      return connectHttp2(originOf(this.#destination), {
        ...tlsOptionsOf(this.#destination),
        ALPNProtocols: ['h2'],
        settings: { enablePush: false },
      });
    } catch (error) {
      this.#backOff();
      throw new ExternalFailure(`unreachable: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #backOff(): void {
    const waitMs = Math.min(backoffMsMax, backoffMsMin * 2 ** this.#failures++);
    this.#closedUntilMs = this.#clock.monotonicMs() + waitMs;
  }

  #keepAlive(session: ClientHttp2Session): void {
    session.setTimeout(keepAliveMs, () => {
      let answered = false;
      const cancel = this.#clock.after(keepAliveMs, () => {
        if (!answered) session.destroy(new ExternalFailure('does not answer'));
      });
      const asked = session.ping(() => {
        answered = true;
        cancel();
      });
      if (!asked) cancel();
    });
  }
}

class RunningCall implements Call {
  readonly #stream: ClientHttp2Stream;
  readonly #receiver: CallReceiver;
  readonly #reader = new MessageReader();
  #status: string | undefined;
  #message = '';
  #refusal: ExternalFailure | undefined;
  #over = false;

  constructor(stream: ClientHttp2Stream, receiver: CallReceiver) {
    this.#stream = stream;
    this.#receiver = receiver;
    stream.on('response', (headers) => {
      this.#note(headers);
      const status = headers[':status'];
      if (status !== 200) this.#refusal = new ExternalFailure(`answers ${status}`);
    });
    stream.on('trailers', (headers) => this.#note(headers));
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => {
      // The service has said all it is going to: what this side still has to say interests nobody.
      this.#end(this.#outcome());
      stream.close();
    });
    stream.on('error', (error: NodeJS.ErrnoException) => this.#end(new ExternalFailure(unreachable(error))));
    stream.on('close', () => this.#end(this.#outcome()));
  }

  send(message: Uint8Array): void {
    if (!this.#over && this.#stream.writable) this.#stream.write(frameOf(message));
  }

  end(): void {
    if (!this.#over && this.#stream.writable) this.#stream.end();
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #note(headers: Readonly<Record<string, unknown>>): void {
    const status = headers['grpc-status'];
    if (status === undefined) return;
    this.#status = String(status);
    this.#message = String(headers['grpc-message'] ?? '');
  }

  #take(chunk: Buffer): void {
    if (this.#over || this.#refusal !== undefined) return;
    try {
      for (const message of this.#reader.read(chunk)) {
        if (this.#over) return;
        this.#receiver.onMessage(message);
      }
    } catch (error) {
      const failure = error instanceof ExternalFailure ? error : new ExternalFailure(String(error));
      this.#end(failure);
      this.#stream.close(constants.NGHTTP2_CANCEL);
    }
  }

  #outcome(): ExternalFailure | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    if (this.#status === undefined) return new ExternalFailure('the stream broke off');
    if (this.#status !== '0') return new ExternalFailure(`status ${this.#status}${detail(this.#message)}`);
    return this.#reader.partial ? new ExternalFailure('a message was cut short') : undefined;
  }

  #end(failure: ExternalFailure | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#receiver.onEnd(failure);
  }
}

const detail = (message: string): string => (message === '' ? '' : `: ${message}`);

const unreachable = (error: NodeJS.ErrnoException): string =>
  error instanceof ExternalFailure ? error.message : `unreachable: ${error.code ?? error.message}`;
