// Calls to one gRPC service: all of a worker share connections of HTTP/2, one as long as it has room for all of them,
// made when the first call needs it and again when it has ended. A service that cannot be reached is not tried more
// often than a back-off allows.

import type { Destination } from '../../model/destination.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { Http2ClientConnection, type Http2ConnectionOwner } from '../http2/client/client-session.ts';
import { HpackEncoder } from '../http2/hpack/encoder.ts';
import type { PoolCallbacks } from '../message/upstream-stream.ts';
import type { ByteSocket } from '../socket/byte-socket.ts';
import {
  ConnectAttempt,
  type OpeningOptions,
  type OpeningOwner,
  type OpeningTools,
} from '../upstream/connect-attempt.ts';
import { ConnectionLife } from '../upstream/connection-life.ts';
import type { EndpointAddress } from '../upstream/endpoint-address.ts';
import { Deadline, type Wheel } from '../wheel.ts';
import { ExternalFailure } from './external-failure.ts';
import { type Call, type CallOptions, type CallOwner, type CallReceiver, RunningCall } from './grpc-call.ts';
import { maxAgeOf, openingOf } from './service-address.ts';

export interface ChannelTools extends OpeningTools {
  readonly clock: Clock;
}

/** Caller that waits for one answer, and may give up. */
export interface AnswerWaiter {
  /** Function for the caller to call, once, when it does not wait for the answer any more; set by the channel. */
  onGivenUp: ((why: ExternalFailure) => void) | undefined;
}

const backoffMsMin = 50;
const backoffMsMax = 1_000;
/** Time limit for the preface exchange, where connecting itself has none. */
const greetingMs = 20_000;
/** More would not make a service faster. Beyond, calls wait for room. */
const connectionsMax = 8;

export class GrpcChannel implements CallOwner, Http2ConnectionOwner, OpeningOwner, PoolCallbacks {
  readonly clock: Clock;
  readonly #tools: ChannelTools;
  readonly #address: EndpointAddress;
  readonly #options: OpeningOptions;
  /** Heads of calls, without what differs from one to the next, by path. */
  readonly #heads = new Map<string, Uint8Array>();
  readonly #connections: Http2ClientConnection[] = [];
  readonly #life: ConnectionLife;
  /** By connection: the address it was made to, and what ends its time. */
  readonly #lives = new Map<Http2ClientConnection, { readonly address: string; readonly aged: Deadline }>();
  /** Connections whose service has not sent its settings yet, with the cancel of their time limit. */
  readonly #unproven = new Map<Http2ClientConnection, Cancel>();
  #opening: ConnectAttempt | undefined;
  #waiting: RunningCall[] = [];
  #failures = 0;
  #closedUntilMs = 0;
  #closed = false;

  constructor(destination: Destination, tools: ChannelTools) {
    this.clock = tools.clock;
    this.#tools = tools;
    const { address, options } = openingOf(destination);
    this.#address = address;
    this.#options = options;
    this.#life = new ConnectionLife(address.host, tools.names, maxAgeOf(destination), () => this.#leaveAddresses());
  }

  get wheel(): Wheel {
    return this.#tools.wheel;
  }

  /** `path` is `/package.Service/Method`. Throws ExternalFailure when the service cannot even be tried. */
  call(path: string, receiver: CallReceiver, options: CallOptions = {}): Call {
    const call = new RunningCall(this, receiver, this.#headOf(path), options);
    this.place(call);
    return call;
  }

  /** One question, one answer. Rejects with ExternalFailure, and at once when it is given up. */
  unary(path: string, message: Uint8Array, waiting: AnswerWaiter, options: CallOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const question = new UnaryCall(resolve, reject, waiting);
      try {
        const call = this.call(path, question, options);
        waiting.onGivenUp = (why) => {
          waiting.onGivenUp = undefined;
          call.cancel();
          reject(why);
        };
        call.send(message);
        call.end();
      } catch (error) {
        reject(error);
      }
    });
  }

  /** Calls under way may finish. */
  close(): void {
    this.#closed = true;
    if (this.#waiting.length === 0) this.#opening?.abort();
    for (const connection of [...this.#connections]) connection.retire();
  }

  // What calls ask.

  place(call: RunningCall): void {
    for (const connection of this.#connections) {
      const stream = this.#unproven.has(connection) ? undefined : connection.begin();
      if (stream !== undefined) {
        call.begin(stream, connection);
        return;
      }
    }
    if (this.#connections.length === 0 && this.#opening === undefined && this.#backsOff)
      throw new ExternalFailure('unreachable');
    this.#waiting.push(call);
    this.#openMore();
  }

  forget(call: RunningCall): void {
    const place = this.#waiting.indexOf(call);
    if (place >= 0) this.#waiting.splice(place, 1);
    if (this.#closed && this.#waiting.length === 0) this.#opening?.abort();
  }

  // Events of connections.

  onOpened(opening: ConnectAttempt, socket: ByteSocket): void {
    this.#opening = undefined;
    const connection = new Http2ClientConnection(socket, this, { wheel: this.wheel, responseHeaderMs: 0, idleMs: 0 });
    this.#connections.push(connection);
    const aged = new Deadline(() => connection.retire());
    const { ageMs } = this.#life;
    if (ageMs > 0) this.wheel.arm(aged, ageMs);
    this.#lives.set(connection, { address: opening.remoteAddress, aged });
    this.#life.opened(socket);
    const withinMs = this.#options.connectMs || greetingMs;
    this.#unproven.set(
      connection,
      this.clock.after(withinMs, () => this.#giveUp(connection)),
    );
    if (this.#closed && this.#waiting.length === 0) connection.retire();
  }

  onNotOpened(): void {
    this.#opening = undefined;
  }

  /** The taker of all that is opened here is the channel itself. */
  onConnection(): void {}

  onNoConnection(_type: string, message: string): void {
    this.#backOff();
    if (this.#connections.length === 0) this.#refuseAll(new ExternalFailure(`unreachable: ${message}`));
  }

  onRoom(connection: Http2ClientConnection): void {
    if (this.#prove(connection)) this.#failures = 0;
    this.#pass(connection);
    if (this.#closed && this.#waiting.length === 0) connection.retire();
  }

  onIdle(connection: Http2ClientConnection): void {
    this.#pass(connection);
  }

  onGone(connection: Http2ClientConnection): void {
    const place = this.#connections.indexOf(connection);
    if (place >= 0) this.#connections.splice(place, 1);
    const life = this.#lives.get(connection);
    if (life !== undefined) this.wheel.remove(life.aged);
    this.#lives.delete(connection);
    if (this.#prove(connection)) this.#backOff();
    for (const call of this.#waiting.splice(0)) {
      try {
        this.place(call);
      } catch (error) {
        call.refuse(error instanceof ExternalFailure ? error : new ExternalFailure(String(error)));
      }
    }
  }

  /** gRPC is spoken in HTTP/2 only. */
  takeHttp1(): boolean {
    return false;
  }

  cancelHttp1(): void {}

  /** False: it was proven before, or is gone. */
  #prove(connection: Http2ClientConnection): boolean {
    const cancel = this.#unproven.get(connection);
    cancel?.();
    return this.#unproven.delete(connection);
  }

  /** Drops a connection to a server that does not speak HTTP/2. */
  #giveUp(connection: Http2ClientConnection): void {
    connection.close();
    this.onGone(connection);
  }

  #leaveAddresses(): void {
    for (const [connection, { address }] of [...this.#lives]) {
      if (!this.#life.isCurrent(address)) connection.retire();
    }
  }

  get #backsOff(): boolean {
    return this.clock.monotonicMs() < this.#closedUntilMs;
  }

  /** One at a time, for those who wait. */
  #openMore(): void {
    if (this.#waiting.length === 0 || this.#opening !== undefined || this.#unproven.size > 0) return;
    if (this.#connections.length >= connectionsMax || this.#backsOff) return;
    this.#opening = new ConnectAttempt(this, this.#address, this, this.#options, this.#tools);
  }

  /** Begins waiting calls on the connection, as many as it takes. */
  #pass(connection: Http2ClientConnection): void {
    while (this.#waiting.length > 0) {
      const stream = connection.begin();
      if (stream === undefined) {
        this.#openMore();
        return;
      }
      this.#waiting.shift()?.begin(stream, connection);
    }
  }

  #refuseAll(failure: ExternalFailure): void {
    for (const call of this.#waiting.splice(0)) call.refuse(failure);
  }

  #backOff(): void {
    const waitMs = Math.min(backoffMsMax, backoffMsMin * 2 ** this.#failures++);
    this.#closedUntilMs = this.clock.monotonicMs() + waitMs;
  }

  #headOf(path: string): Uint8Array {
    let head = this.#heads.get(path);
    if (head === undefined) {
      const out = new HpackEncoder();
      out.request('POST', this.#options.security === undefined ? 'http' : 'https', this.#address.name, path);
      out.field('content-type', 'application/grpc');
      out.field('te', 'trailers');
      head = Uint8Array.from(out.bytes.subarray(0, out.length));
      this.#heads.set(path, head);
    }
    return head;
  }
}

/** Unary call: its message counts once the call has ended well. Two messages are ambiguous, so neither is an answer. */
class UnaryCall implements CallReceiver {
  readonly #resolve: (answer: Buffer) => void;
  readonly #reject: (failure: ExternalFailure) => void;
  readonly #waiting: AnswerWaiter;
  #answer: Buffer | undefined;
  #messages = 0;

  constructor(resolve: (answer: Buffer) => void, reject: (failure: ExternalFailure) => void, waiting: AnswerWaiter) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#waiting = waiting;
  }

  onMessage(message: Buffer): void {
    this.#messages++;
    this.#answer = message;
  }

  onEnd(failure: ExternalFailure | undefined): void {
    this.#waiting.onGivenUp = undefined;
    if (failure !== undefined) this.#reject(failure);
    else if (this.#answer === undefined) this.#reject(new ExternalFailure('ended without an answer'));
    else if (this.#messages > 1) this.#reject(new ExternalFailure(`${this.#messages} answers to one question`));
    else this.#resolve(this.#answer);
  }
}
