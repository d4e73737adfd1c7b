// Collects the checkpoint that a leader offers, verifies it, and has the host build its state. One at a time; a
// newer offer supersedes, the same offer goes on where it stands.
import type { CheckpointMeta, Index, MemberId } from '../core/types.ts';
import type { CheckpointCollector, CheckpointStore } from '../store/checkpoint-store.ts';

export interface ReceiverLink {
  ack(to: MemberId, transfer: number, offset: number, refused: boolean): void;
  /** Verified and complete: build the state. */
  install(meta: CheckpointMeta): void;
}

interface Fetch {
  readonly meta: CheckpointMeta;
  readonly collector: CheckpointCollector;
  from: MemberId;
  transfer: number;
  isWriting: boolean;
  /** Chunks that can't be appended yet, by offset. */
  readonly queue: Map<number, Uint8Array>;
  /** The complete file, once verified. */
  complete: CheckpointMeta | undefined;
}

export class CheckpointReceiver {
  readonly #store: CheckpointStore;
  readonly #link: ReceiverLink;
  readonly #window: number;
  #fetch: Fetch | undefined;

  constructor(store: CheckpointStore, window: number, link: ReceiverLink) {
    this.#store = store;
    this.#window = window;
    this.#link = link;
  }

  /** The verified file that the host is building from, if it is the one for `index`. */
  complete(index: Index): CheckpointMeta | undefined {
    const meta = this.#fetch?.complete;
    return meta?.index === index ? meta : undefined;
  }

  offered(from: MemberId, meta: CheckpointMeta, transfer: number): void {
    const current = this.#fetch;
    if (current?.meta.sha256 === meta.sha256 && current.meta.index === meta.index) {
      current.from = from;
      current.transfer = transfer;
      this.#ack(current, false);
      return;
    }
    this.drop();
    const collector = this.#store.collect(meta);
    this.#fetch = { meta, collector, from, transfer, isWriting: false, queue: new Map(), complete: undefined };
    this.#ack(this.#fetch, false);
    this.#pump(this.#fetch);
  }

  chunk(from: MemberId, transfer: number, offset: number, data: Uint8Array): void {
    const fetch = this.#fetch;
    if (fetch === undefined || fetch.from !== from || fetch.transfer !== transfer) return;
    fetch.queue.set(offset, data);
    // What is nearest is needed first; the rest will be sent again.
    if (fetch.queue.size > this.#window) fetch.queue.delete(Math.max(...fetch.queue.keys()));
    this.#pump(fetch);
  }

  #pump(fetch: Fetch): void {
    if (fetch.isWriting || fetch !== this.#fetch || fetch.complete !== undefined) return;
    if (fetch.collector.held >= fetch.meta.size) {
      this.#finish(fetch);
      return;
    }
    const data = takeNext(fetch.queue, fetch.collector.held);
    if (data === undefined) return;
    fetch.isWriting = true;
    fetch.collector.append(data, (ok) => this.#onWritten(fetch, ok));
  }

  #onWritten(fetch: Fetch, ok: boolean): void {
    fetch.isWriting = false;
    if (fetch !== this.#fetch) return;
    if (!ok) {
      this.#refuse(fetch);
      return;
    }
    this.#ack(fetch, false);
    this.#pump(fetch);
  }

  #finish(fetch: Fetch): void {
    fetch.isWriting = true;
    fetch.collector.finish((meta) => {
      fetch.isWriting = false;
      if (fetch !== this.#fetch) return;
      if (meta === undefined) {
        this.#refuse(fetch);
        return;
      }
      fetch.complete = meta;
      this.#link.install(meta);
    });
  }

  #ack({ from, transfer, collector }: Fetch, refused: boolean): void {
    this.#link.ack(from, transfer, collector.held, refused);
  }

  refuse(index: Index): void {
    if (this.#fetch?.meta.index === index) this.#refuse(this.#fetch);
  }

  #refuse(fetch: Fetch): void {
    this.#ack(fetch, true);
    this.drop();
  }

  /** Not wanted any more, or installed. */
  drop(): void {
    if (this.#fetch !== undefined && this.#fetch.complete === undefined) this.#fetch.collector.discard();
    this.#fetch = undefined;
  }
}

/** The chunk that continues at `held`; drops those that came before. */
function takeNext(queue: Map<number, Uint8Array>, held: number): Uint8Array | undefined {
  const data = queue.get(held);
  for (const offset of [...queue.keys()]) if (offset <= held) queue.delete(offset);
  return data;
}
