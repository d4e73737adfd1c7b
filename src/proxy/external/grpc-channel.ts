// Calls to one gRPC service: all of a worker share one HTTP/2 connection per destination, made when the first call needs
// it and again when it has ended. A service that cannot be reached is not tried more often than a back-off allows.
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import type { Clock } from '../../clock.ts';
import type { Destination } from '../../model/destination.ts';
import { ExternalFailure, timedOut } from './external-failure.ts';
import { type Call, type CallReceiver, RunningCall } from './grpc-call.ts';
import { connectMsOf, originOf, tlsOptionsOf } from './service-address.ts';

export interface CallOptions {
  /** The service is told, and ends the call by itself; whoever waits keeps a timer of its own. 0 = no limit. */
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
    return new RunningCall(stream, receiver, this.#clock, timeoutMs);
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
        reject(timedOut());
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
