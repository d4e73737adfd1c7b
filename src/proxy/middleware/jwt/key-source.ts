// Key sources of a jwt middleware: the configuration, or main, which fetches keys once for all workers.
import type { Clock } from '../../../util/clock.ts';
import { keysOfInline, keysOfJwks, type VerificationKey } from './verification-keys.ts';

export interface KeySource {
  /** Undefined until the first fetch has ended, well or not. */
  readonly keys: readonly VerificationKey[] | undefined;
  /** Another number with each other set of keys. */
  readonly version: number;
  /** Resolves when the first fetch has ended, or after the time that a fetch may take. */
  fetched(): Promise<void>;
  /** Requests fresh keys and resolves as `fetched`; undefined when they are as fresh as they may be. */
  refetched(): Promise<void> | undefined;
}

/** Keys that stand in the configuration. Throws when the text holds none that can be read. */
export function inlineKeys(text: string): KeySource {
  return { keys: keysOfInline(text), version: 0, fetched: async () => {}, refetched: () => undefined };
}

/** A token with an unknown key makes the keys be fetched again, but no more often than this. */
export const refetchMsMin = 10_000;

/** The keys of every middleware that has them fetched, as one worker knows them. */
export class KeySets {
  readonly #sets = new Map<string, FetchedKeys>();
  readonly #clock: Clock;
  readonly #ask: (id: string) => void;

  /** `ask` requests a fetch of the keys of the middleware with that id from main, which always answers through `receive`. */
  constructor(clock: Clock, ask: (id: string) => void) {
    this.#clock = clock;
    this.#ask = ask;
  }

  /** `withinMs`: how long a request waits for keys; 0 = no limit. */
  sourceOf(id: string, withinMs: number): KeySource {
    const set = this.#setOf(id);
    set.withinMs = withinMs;
    return set;
  }

  /** Takes fetched keys; `document` is undefined when a fetch has failed: the known ones stay. */
  receive(id: string, document: string | undefined): void {
    this.#setOf(id).receive(document);
  }

  /** The middleware is gone. */
  forget(id: string): void {
    this.#sets.get(id)?.forget();
  }

  #setOf(id: string): FetchedKeys {
    const known = this.#sets.get(id);
    if (known !== undefined) return known;
    const made = new FetchedKeys(this.#clock, () => this.#ask(id));
    this.#sets.set(id, made);
    return made;
  }
}

class FetchedKeys implements KeySource {
  keys: readonly VerificationKey[] | undefined;
  version = 0;
  withinMs = 0;
  readonly #clock: Clock;
  readonly #ask: () => void;
  #document: string | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock, ask: () => void) {
    this.#clock = clock;
    this.#ask = ask;
  }

  receive(document: string | undefined): void {
    if (document === undefined) this.keys ??= [];
    else if (document !== this.#document) {
      this.#document = document;
      this.keys = keysOfJwks(document) ?? [];
      this.version++;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  forget(): void {
    this.keys = undefined;
    this.#document = undefined;
    this.version++;
  }

  fetched(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.withinMs > 0 ? this.#clock.after(this.withinMs, resolve) : () => {};
      this.#waiting.push(() => {
        cancel();
        resolve();
      });
    });
  }

  refetched(): Promise<void> | undefined {
    const nowMs = this.#clock.monotonicMs();
    const mayAsk = nowMs - this.#askedMs >= refetchMsMin;
    if (!mayAsk) return this.#waiting.length > 0 ? this.fetched() : undefined;
    this.#askedMs = nowMs;
    const news = this.fetched();
    this.#ask();
    return news;
  }
}
