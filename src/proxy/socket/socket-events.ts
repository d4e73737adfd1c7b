// Event emitter of a connection. Node's emitter would do, at several times the cost for each connection.
import type { SocketEvent } from './byte-socket.ts';

interface Subscription {
  readonly event: SocketEvent | 'secure';
  readonly act: (error: NodeJS.ErrnoException) => void;
  readonly once: boolean;
}

export class SocketEvents {
  /** Replaced, never changed, when a subscription ends: an emission in progress keeps its list. */
  #subscriptions: Subscription[] = [];

  on(event: Subscription['event'], act: Subscription['act']): this {
    this.#subscriptions.push({ event, act, once: false });
    return this;
  }

  once(event: Subscription['event'], act: Subscription['act']): this {
    this.#subscriptions.push({ event, act, once: true });
    return this;
  }

  off(event: Subscription['event'], act: Subscription['act']): this {
    this.#subscriptions = this.#subscriptions.filter((each) => each.event !== event || each.act !== act);
    return this;
  }

  removeAllListeners(event: Subscription['event']): this {
    this.#subscriptions = this.#subscriptions.filter((each) => each.event !== event);
    return this;
  }

  protected emit(event: Subscription['event'], error?: NodeJS.ErrnoException): void {
    const all = this.#subscriptions;
    const { length } = all;
    for (let i = 0; i < length; i++) {
      const each = all[i];
      if (each?.event !== event) continue;
      if (each.once) this.#subscriptions = this.#subscriptions.filter((other) => other !== each);
      each.act(error as NodeJS.ErrnoException);
    }
  }
}
