// Send queue of one peer: two lanes, both bounded (raft.md A8, A21). On a connection that both share, frames of the
// urgent lane go between those of the bulk lane, so a heartbeat waits for at most one fragment to be written. Messages
// are encoded when they are taken.

import { encodeMessage, laneOf, messagePieces } from '../codec/message-encoder.ts';
import { encodeFrames, framesOf } from '../codec/message-frames.ts';
import type { Message } from '../core/message.ts';

export interface SendQueueLimits {
  /** Payload bytes of waiting bulk messages; a single message may exceed it when it is alone. */
  readonly bulkBytesMax: number;
  /** Limit of urgent messages, beyond which the oldest is dropped: a newer one of its kind supersedes it. */
  readonly urgentMessagesMax: number;
}

const sendQueueLimits: SendQueueLimits = { bulkBytesMax: 8 * 1024 * 1024, urgentMessagesMax: 64 };

export class SendQueue {
  readonly #limits: SendQueueLimits;
  #urgent: Message[] = [];
  #bulk: Message[] = [];
  #bulkBytes = 0;
  /** Frames of the bulk message that is leaving, beside the next one. */
  #frames: Iterator<readonly Uint8Array[], undefined> | undefined;
  #frame: readonly Uint8Array[] | undefined;
  #dropped = 0;

  constructor(limits: SendQueueLimits = sendQueueLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#urgent.length === 0 && this.#bulk.length === 0 && this.#frame === undefined;
  }

  /** Messages that did not fit, since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Queues a message. False when bulk was dropped for it: the peer has a gap, and the sender must learn of it. */
  push(message: Message): boolean {
    if (laneOf(message.type) === 'urgent') {
      this.#urgent.push(message);
      if (this.#urgent.length > this.#limits.urgentMessagesMax) this.#drop(this.#urgent.splice(0, 1).length);
      return true;
    }
    const bytes = weightOf(message);
    if (this.#bulk.length > 0 && this.#bulkBytes + bytes > this.#limits.bulkBytesMax) {
      this.#drop(1);
      return false;
    }
    this.#bulk.push(message);
    this.#bulkBytes += bytes;
    return true;
  }

  /** Returns what to write next: one urgent message whole, or one fragment of bulk. Undefined when nothing waits. */
  take(): readonly Uint8Array[] | undefined {
    const urgent = this.takeUrgent();
    if (urgent !== undefined) return urgent;
    if (this.#frame === undefined) this.#beginBulk();
    const frame = this.#frame;
    this.#frame = this.#frames?.next().value;
    return frame;
  }

  /** One message of the urgent lane, whole. */
  takeUrgent(): readonly Uint8Array[] | undefined {
    const message = this.#urgent.shift();
    return message && encodeFrames(encodeMessage(message), 'urgent');
  }

  /** The connection is gone: what it had begun is lost, and bulk is stale by the time there is a new one. */
  breakOff(): boolean {
    const lost = this.#bulk.length > 0 || this.#frame !== undefined;
    this.#drop(this.#bulk.length);
    this.#bulk = [];
    this.#bulkBytes = 0;
    this.#frames = undefined;
    this.#frame = undefined;
    return lost;
  }

  #beginBulk(): void {
    const message = this.#bulk.shift();
    if (message === undefined) return;
    this.#bulkBytes -= weightOf(message);
    this.#frames = framesOf(messagePieces(message), 'bulk');
    this.#frame = this.#frames.next().value;
  }

  #drop(count: number): void {
    this.#dropped += count;
  }
}

const headerBytes = 128;

function weightOf(message: Message): number {
  if (message.type === 'checkpointChunk') return headerBytes + message.data.length;
  if (message.type !== 'append') return headerBytes;
  return message.entries.reduce(
    (sum, entry) => sum + headerBytes + (entry.kind === 'command' ? entry.payload.length : 1024),
    headerBytes,
  );
}
