// The outlets of one transport by who they lead to. Members have one always, others as long as they are connected.
import type { Message } from '../core/message.ts';
import type { MemberId } from '../core/types.ts';
import { Outlet } from './outlet.ts';
import type { TcpConnection } from './tcp-connection.ts';

export class Outlets {
  readonly #outlets = new Map<MemberId, Outlet>();
  readonly #unreachable: (peer: MemberId) => void;
  #members: ReadonlySet<MemberId> = new Set();

  /** `unreachable` hears of members that messages were lost for, never from inside a call. */
  constructor(unreachable: (peer: MemberId) => void) {
    this.#unreachable = unreachable;
  }

  setMembers(ids: readonly MemberId[]): void {
    this.#members = new Set(ids);
    for (const id of ids) this.#to(id);
    this.#forgetStrangers();
  }

  /** False: nobody with that id is a member or connected. */
  push(message: Message): boolean {
    const outlet = this.#outlets.get(message.to);
    if (outlet === undefined) return false;
    if (!outlet.push(message)) this.#lost(message.to);
    return true;
  }

  attach(id: MemberId, connection: TcpConnection, dialled: boolean): void {
    this.#to(id).attach(connection, dialled);
  }

  detach(id: MemberId, connection: TcpConnection): void {
    if (this.#outlets.get(id)?.detach(connection)) this.#lost(id);
    this.#forgetStrangers();
  }

  #to(id: MemberId): Outlet {
    const outlet = this.#outlets.get(id) ?? new Outlet();
    this.#outlets.set(id, outlet);
    return outlet;
  }

  /** Who sends may be in the middle of a step. */
  #lost(id: MemberId): void {
    if (this.#members.has(id)) queueMicrotask(() => this.#unreachable(id));
  }

  #forgetStrangers(): void {
    for (const [id, outlet] of this.#outlets) {
      if (!this.#members.has(id) && !outlet.connected) this.#outlets.delete(id);
    }
  }
}
