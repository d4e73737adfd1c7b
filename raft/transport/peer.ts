// A peer as the transport has it: the queue of what leaves for it, and the connections by which it may. Nodes dial each
// other, so there are two as a rule. Bulk leaves by the one that this node dialled, urgent messages by the one that it
// accepted, where no bulk of this node lies in the sockets before them; a single connection carries both. More exist while
// a broken one has not been noticed yet.
import type { Message } from '../core/message.ts';
import { SendQueue } from './send-queue.ts';
import type { TcpConnection } from './tcp-connection.ts';

/** Part of a connection that a peer needs. */
type Way = Pick<TcpConnection, 'send' | 'onDrain'>;

export class Peer {
  readonly #queue = new SendQueue();
  /** First the newest that was dialled, last the newest that was accepted. */
  #connections: Way[] = [];
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

  attach(connection: Way, dialled: boolean): void {
    this.#connections = dialled ? [connection, ...this.#connections] : [...this.#connections, connection];
    connection.onDrain(() => this.#pump());
    this.#pump();
  }

  /** True when messages were lost with it. What was written and not delivered is not known: assume so if it was in use. */
  detach(connection: Way): boolean {
    const forBulk = this.#connections[0] === connection;
    const forUrgent = this.#connections.at(-1) === connection;
    this.#connections = this.#connections.filter((each) => each !== connection);
    if (forBulk) this.#queue.breakOff();
    return forBulk || forUrgent;
  }

  #pump(): void {
    this.#scheduled = false;
    this.#connections.at(-1)?.send(() => this.#queue.takeUrgent());
    // What the other one does not take, its peer being stuck, goes by this one, before bulk.
    this.#connections[0]?.send(() => this.#queue.take());
  }
}
