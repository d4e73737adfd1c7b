// Sender of a checkpoint to one peer, in chunks: a small window, paced, resumed at the offset that the receiver
// reports.
import type { CheckpointMeta, Index, MemberId } from '../core/types.ts';
import type { CheckpointReader, CheckpointStore } from '../store/checkpoint-store.ts';

export interface SenderLimits {
  readonly chunkBytes: number;
  readonly window: number;
  readonly bytesPerSecond: number;
  readonly retryMs: number;
  readonly timeoutMs: number;
}

export interface SenderLink {
  /** Repeats the offer: the receiver answers with where it stands. */
  offer(peer: MemberId, meta: CheckpointMeta, transfer: number): void;
  chunk(peer: MemberId, transfer: number, offset: number, data: Uint8Array): void;
  failed(peer: MemberId): void;
}

/** So many offers without progress are enough when others wait. */
const awaitedRetries = 3;

export class CheckpointSender {
  readonly peer: MemberId;
  readonly transfer: number;
  readonly #meta: CheckpointMeta;
  readonly #limits: SenderLimits;
  readonly #link: SenderLink;
  readonly #reader: CheckpointReader;
  /** Confirmed by the receiver; undefined until it answered at all. */
  #acked: number | undefined;
  #sent = 0;
  #isReading = false;
  #isClosed = false;
  #budget: number;
  #progressAt: number;
  #triedAt: number;

  constructor(
    peer: MemberId,
    meta: CheckpointMeta,
    transfer: number,
    store: CheckpointStore,
    limits: SenderLimits,
    link: SenderLink,
    now: number,
  ) {
    this.peer = peer;
    this.transfer = transfer;
    this.#meta = meta;
    this.#limits = limits;
    this.#link = link;
    this.#reader = store.read(meta);
    this.#budget = limits.chunkBytes * limits.window;
    this.#progressAt = now;
    this.#triedAt = now;
    link.offer(peer, meta, transfer);
  }

  get index(): Index {
    return this.#meta.index;
  }

  acked(offset: number, refused: boolean, now: number): void {
    if (refused) {
      this.#fail();
      return;
    }
    if (this.#acked === undefined || offset > this.#acked) this.#progressAt = now;
    // It may stand further back than it once did: it started again.
    if (this.#acked === undefined || offset < this.#acked) this.#sent = offset;
    this.#acked = offset;
    this.#sent = Math.max(this.#sent, offset);
    this.#triedAt = now;
    this.#pump();
  }

  /** `isAwaited`: another peer waits for the place of this transfer, and a peer that is gone must not keep it for long. */
  tick(now: number, elapsedMs: number, isAwaited: boolean): void {
    const { bytesPerSecond, chunkBytes, retryMs, window } = this.#limits;
    // A peer that has everything is building its state from it.
    const isSilent = isAwaited && (this.#acked ?? 0) < this.#meta.size;
    const timeoutMs = isSilent ? Math.min(awaitedRetries * retryMs, this.#limits.timeoutMs) : this.#limits.timeoutMs;
    const refill = (bytesPerSecond * elapsedMs) / 1000;
    this.#budget = Math.min(this.#budget + refill, Math.max(refill, chunkBytes * window));
    if (now - this.#progressAt > timeoutMs) {
      this.#fail();
      return;
    }
    if (now - this.#triedAt > retryMs) {
      this.#triedAt = now;
      this.#sent = this.#acked ?? 0;
      this.#link.offer(this.peer, this.#meta, this.transfer);
    }
    this.#pump();
  }

  #pump(): void {
    const { chunkBytes, window } = this.#limits;
    if (this.#isClosed || this.#isReading || this.#acked === undefined) return;
    if (this.#sent >= this.#meta.size || this.#sent - this.#acked >= chunkBytes * window) return;
    if (this.#budget < chunkBytes) return;
    const offset = this.#sent;
    this.#isReading = true;
    this.#reader.read(offset, Math.min(chunkBytes, this.#meta.size - offset), (data) => this.#onRead(offset, data));
  }

  #onRead(offset: number, data: Uint8Array | undefined): void {
    this.#isReading = false;
    if (this.#isClosed) return;
    if (data === undefined || data.length === 0) {
      this.#fail();
      return;
    }
    if (offset === this.#sent) {
      this.#link.chunk(this.peer, this.transfer, offset, data);
      this.#sent = offset + data.length;
      this.#budget -= data.length;
    }
    this.#pump();
  }

  #fail(): void {
    if (this.#isClosed) return;
    this.close();
    this.#link.failed(this.peer);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reader.close();
  }
}
