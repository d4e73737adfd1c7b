// Answers under way that keys of the cluster were admitted for: they end when their key is revoked, streams above all.
import type { ServerResponse } from 'node:http';

export class RevokedAnswers {
  readonly #byKey = new Map<string, Set<ServerResponse>>();
  readonly #counts: (keyId: string) => boolean;
  readonly #spared = new WeakSet<ServerResponse>();

  /** @param counts whether a key is not revoked */
  constructor(counts: (keyId: string) => boolean) {
    this.#counts = counts;
  }

  hold(keyId: string, response: ServerResponse): void {
    let held = this.#byKey.get(keyId);
    if (held === undefined) {
      held = new Set();
      this.#byKey.set(keyId, held);
    }
    held.add(response);
    response.once('close', () => {
      held.delete(response);
      if (held.size === 0 && this.#byKey.get(keyId) === held) this.#byKey.delete(keyId);
    });
  }

  /** Lets an answer end by itself: that of a revocation, which may be one of its own key. */
  spare(response: ServerResponse): void {
    this.#spared.add(response);
  }

  /** Aborts the answers for keys that count no more. */
  look(): void {
    for (const [keyId, held] of this.#byKey) {
      if (this.#counts(keyId)) continue;
      this.#byKey.delete(keyId);
      for (const response of held) if (!this.#spared.has(response)) response.destroy();
    }
  }
}
