// Peers of one transport by their id: members always, others as long as they are connected.
import type { Message } from '../core/message.ts';
import type { MemberId } from '../core/types.ts';
import { Peer } from './peer.ts';
import type { TcpConnection } from './tcp-connection.ts';

export class Peers {
  readonly #peers = new Map<MemberId, Peer>();
  readonly #unreachable: (peer: MemberId) => void;
  #members: ReadonlySet<MemberId> = new Set();

  /** @param unreachable called with members that messages were lost for, never from inside a call. */
  constructor(unreachable: (peer: MemberId) => void) {
    this.#unreachable = unreachable;
  }

  setMembers(ids: readonly MemberId[]): void {
    this.#members = new Set(ids);
    for (const id of ids) this.#to(id);
    this.#forgetStrangers();
  }

  /** Queues a message. False: no member or connection has that id. */
  push(message: Message): boolean {
    const peer = this.#peers.get(message.to);
    if (peer === undefined) return false;
    if (!peer.push(message)) this.#lost(message.to);
    return true;
  }

  attach(id: MemberId, connection: TcpConnection, dialled: boolean): void {
    this.#to(id).attach(connection, dialled);
  }

  detach(id: MemberId, connection: TcpConnection): void {
    if (this.#peers.get(id)?.detach(connection)) this.#lost(id);
    this.#forgetStrangers();
  }

  #to(id: MemberId): Peer {
    const peer = this.#peers.get(id) ?? new Peer();
    this.#peers.set(id, peer);
    return peer;
  }

  /** Reports a gap later: the sender may be in the middle of a step. */
  #lost(id: MemberId): void {
    if (this.#members.has(id)) queueMicrotask(() => this.#unreachable(id));
  }

  #forgetStrangers(): void {
    for (const [id, peer] of this.#peers) {
      if (!this.#members.has(id) && !peer.connected) this.#peers.delete(id);
    }
  }
}
