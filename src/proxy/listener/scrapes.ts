// Scrapes of one listener in one thread: each has a text of its own, but not when there are many at a time. Clients that
// read slowly, or not at all, would hold as many texts, and the thread that renders them would do nothing else.

import type { Scrape } from '../exchange/exchange-context.ts';
import type { LocalReply } from '../exchange/phase.ts';

/** Scrapes with a text of their own. */
const ownMax = 16;
/** Milliseconds of age up to which further ones get the latest text. */
const sharedMsMax = 5_000;

export class Scrapes {
  readonly #nowMs: () => number;
  #open = 0;
  #latest: { readonly reply: Promise<LocalReply>; readonly sinceMs: number } | undefined;

  /** @param nowMs monotonic milliseconds */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  begin(render: () => Promise<LocalReply>): Scrape {
    this.#open++;
    let isOpen = true;
    const end = (): void => {
      if (isOpen && --this.#open === 0) this.#latest = undefined;
      isOpen = false;
    };
    return { reply: this.#shared ?? this.#rendered(render), end };
  }

  /** Text that many scrapes share. */
  get #shared(): Promise<LocalReply> | undefined {
    const latest = this.#latest;
    if (this.#open <= ownMax || latest === undefined) return undefined;
    return this.#nowMs() - latest.sinceMs > sharedMsMax ? undefined : latest.reply;
  }

  #rendered(render: () => Promise<LocalReply>): Promise<LocalReply> {
    const reply = render();
    this.#latest = { reply, sinceMs: this.#nowMs() };
    return reply;
  }
}
