// One call of gRPC on a stream of HTTP/2: messages both ways, and how it ended.
import { type ClientHttp2Stream, constants } from 'node:http2';
import type { Clock } from '../../clock.ts';
import { ExternalFailure, timedOut } from './external-failure.ts';
import { frameOf, MessageReader } from './grpc-frames.ts';

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

export class RunningCall implements Call {
  readonly #stream: ClientHttp2Stream;
  readonly #receiver: CallReceiver;
  readonly #clock: Clock;
  /** Monotonic, of this side; undefined: the service was told of none. */
  readonly #deadlineMs: number | undefined;
  readonly #reader = new MessageReader();
  #status: string | undefined;
  #message = '';
  #refusal: ExternalFailure | undefined;
  #over = false;

  constructor(stream: ClientHttp2Stream, receiver: CallReceiver, clock: Clock, timeoutMs: number) {
    this.#stream = stream;
    this.#receiver = receiver;
    this.#clock = clock;
    this.#deadlineMs = timeoutMs > 0 ? clock.monotonicMs() + timeoutMs : undefined;
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
    stream.on('error', (error: NodeJS.ErrnoException) => this.#end(this.#broken(error)));
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

  /** A reset after the trailers takes nothing back that they said of a failure. */
  #broken(error: NodeJS.ErrnoException): ExternalFailure {
    const said = this.#status === undefined || this.#status === '0' ? undefined : this.#outcome();
    return said ?? new ExternalFailure(unreachable(error));
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
    this.#receiver.onEnd(failure !== undefined && this.#isLate() ? timedOut() : failure);
  }

  /** The service's timer may be heard before ours: by its status, or by whatever else ends a call that has no time left. */
  #isLate(): boolean {
    if (this.#deadlineMs === undefined) return false;
    return this.#status === deadlineExceeded || this.#clock.monotonicMs() >= this.#deadlineMs;
  }
}

/** `DEADLINE_EXCEEDED` among the statuses of gRPC. */
const deadlineExceeded = '4';

const detail = (message: string): string => (message === '' ? '' : `: ${message}`);

const unreachable = (error: NodeJS.ErrnoException): string =>
  error instanceof ExternalFailure ? error.message : `unreachable: ${error.code ?? error.message}`;
