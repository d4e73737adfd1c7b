// A peer as the transport has it: the queue of what leaves for it, and the connections by which it may. One this node
// dialled is preferred over one it accepted; several exist while a broken one has not been noticed yet.
import type { Message } from '../core/message.ts';
import { SendQueue } from './send-queue.ts';
import type { TcpConnection } from './tcp-connection.ts';

export class Peer {
  readonly #queue = new SendQueue();
  #connections: TcpConnection[] = [];
  #scheduled = false;

  get connected(): boolean {
    return this.#connections.length > 0;
  }

  /** False when bulk was dropped. Messages of one turn leave together. */
  push(message: Message): boolean {
    const kept = this.#queue.push(message);
    if (!this.connected) return !this.#queue.breakOff() && kept;
    if (!this.#scheduled) {
      this.#scheduled = true;
      queueMicrotask(() => this.#pump());
    }
    return kept;
  }

  attach(connection: TcpConnection, dialled: boolean): void {
    this.#connections = dialled ? [connection, ...this.#connections] : [...this.#connections, connection];
    connection.onDrain(() => this.#pump());
    this.#pump();
  }

  /** True when messages were lost with it. What was written and not delivered is not known: assume so if it was in use. */
  detach(connection: TcpConnection): boolean {
    const inUse = this.#connections[0] === connection;
    this.#connections = this.#connections.filter((each) => each !== connection);
    if (inUse) this.#queue.breakOff();
    return inUse;
  }

  #pump(): void {
    this.#scheduled = false;
    this.#connections[0]?.send(this.#queue);
  }
}
