// Keeps one connection to one address alive: dial, handshake, and after any end dial again, later each time
// (raft.md A21: 50 ms to 2 s, with jitter so that nodes do not knock in step).
import type { Socket } from 'node:net';

import type { Greeting } from '../codec/greeting.ts';
import type { Cancel, Clock } from '../driver/driver-clock.ts';
import type { TcpConnection } from './tcp-connection.ts';

export interface LinkParts {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Starts to connect; `ready` is called when the socket stands. */
  readonly dial: (ready: () => void) => Socket;
  /** Why an attempt did not get as far as a standing socket. `refused`: it failed of what was shown, not of the network. */
  readonly failed: (reason: string, refused: boolean) => void;
  /** Greets over a standing socket. The events are the link's. */
  readonly converse: (socket: Socket, events: LinkEvents) => TcpConnection;
}

export interface LinkEvents {
  accepted(peer: Greeting): void;
  closed(reason: string, refused: boolean): void;
}

const connectWithinMs = 1_000;
const backoffMs = { first: 50, last: 2_000 };

export class TcpLink {
  readonly #parts: LinkParts;
  #attempts = 0;
  #connection: TcpConnection | undefined;
  #socket: Socket | undefined;
  #timer: Cancel = () => {};
  #closed = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#dial();
  }

  close(): void {
    this.#closed = true;
    this.#timer();
    this.#connection?.close('not needed any more');
    this.#socket?.destroy();
  }

  #dial(): void {
    const { clock, dial } = this.#parts;
    const socket = dial(() => this.#converse(socket));
    this.#socket = socket;
    socket.on('error', (error) => this.#failed(socket, error.message, isOfTls(error)));
    socket.on('close', () => this.#failed(socket, 'closed before it stood', false));
    this.#timer = clock.after(connectWithinMs, () => socket.destroy(new Error('no connection in time')));
  }

  #converse(socket: Socket): void {
    this.#timer();
    this.#connection = this.#parts.converse(socket, {
      accepted: () => {
        this.#attempts = 0;
      },
      closed: () => this.#retry(socket),
    });
  }

  /** Handles a failed attempt to connect; an error of an established socket belongs to its connection. */
  #failed(socket: Socket, reason: string, refused: boolean): void {
    if (this.#socket === socket && this.#connection === undefined && !this.#closed) this.#parts.failed(reason, refused);
    this.#retry(socket);
  }

  /** Error and close of one socket both come here; the first counts. */
  #retry(socket: Socket): void {
    if (this.#closed || this.#socket !== socket) return;
    this.#timer();
    this.#socket = undefined;
    this.#connection = undefined;
    const { first, last } = backoffMs;
    const delay = Math.min(last, first * 2 ** Math.min(this.#attempts, 10));
    this.#attempts += 1;
    this.#timer = this.#parts.clock.after(delay * (0.5 + this.#parts.random() / 2), () => this.#dial());
  }
}

/** Returns whether an error is of TLS: those of the system have codes of one word such as ECONNREFUSED. */
const isOfTls = ({ code }: NodeJS.ErrnoException): boolean => code !== undefined && !/^E[A-Z0-9]+$/.test(code);
