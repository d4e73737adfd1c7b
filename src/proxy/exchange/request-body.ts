// Request body for the upstream: the client's, or a middleware's replacement (proxy.md, Bodies). One for each
// exchange slot, reset with each request.
import type { BodySource } from '../message/body.ts';
import type { BodyKind } from '../message/request.ts';
import type { Downstream } from './downstream.ts';
import {
  type CollectedBody,
  collected,
  emptyBuffer,
  HeldBody,
  type HeldCount,
  nullSink,
  readBody,
  WholeBody,
} from './held-body.ts';
import { LimitedBody } from './limited-body.ts';

export class RequestBody {
  /** Kind of the client's body, or of its replacement. */
  kind: BodyKind = 'none';
  readonly #downstream: Downstream;
  #source: BodySource;
  /** Body, while it is one that can be held. */
  #held: HeldBody | undefined;
  /** Body of unknown length under a limit. */
  #limited: LimitedBody | undefined;
  #changed = false;

  constructor(downstream: Downstream) {
    this.#downstream = downstream;
    this.#source = downstream;
  }

  begin(): void {
    this.#source = this.#downstream;
    this.kind = this.#downstream.request.bodyKind;
    this.#changed = false;
  }

  clear(): void {
    this.#limited?.close();
    this.#limited = undefined;
    this.#source = this.#downstream;
    this.#held = undefined;
  }

  /** True while no part of it has been read. */
  get untouched(): boolean {
    return this.#source === this.#downstream;
  }

  /** True while no middleware has replaced or wrapped it. */
  get unchanged(): boolean {
    return !this.#changed;
  }

  /** Returns the body; it is started once. */
  get source(): BodySource {
    return this.#source;
  }

  /** Returns the same body in a form that can be held and started again. */
  get held(): HeldBody {
    if (this.#held === undefined) {
      this.#held = new HeldBody(this.#source);
      this.#source = this.#held;
    }
    return this.#held;
  }

  collect(bytesMax: number, count?: HeldCount): CollectedBody | undefined | Promise<CollectedBody | undefined> {
    if (this.kind === 'none') return readBody(emptyBuffer);
    if (this.#downstream.request.expectContinue) this.#downstream.response.continue();
    return collected(this.held, bytesMax, count);
  }

  replace(bytes: Uint8Array): void {
    // The unread rest of the old body still has to be read.
    if (this.kind !== 'none' && this.#held?.whole !== true) this.#source.start(nullSink);
    this.#source = new WholeBody(bytes);
    this.#held = undefined;
    this.#changed = true;
    this.kind = 'length';
    this.#downstream.request.edits.setLength(bytes.length);
  }

  /**
   * Returns whether a body may have so many bytes, as far as its head says. One of unknown length is limited as it comes:
   * `onOver` is called once, in place of the chunk that exceeds the limit.
   */
  limit(bytesMax: number, onOver: () => void): boolean {
    if (bytesMax === 0 || this.kind === 'none') return true;
    if (this.kind === 'length') return this.#downstream.request.bodyLength <= bytesMax;
    this.#limited = new LimitedBody(this.#source, bytesMax, onOver);
    this.#source = this.#limited;
    this.#held = undefined;
    this.#changed = true;
    return true;
  }

  wrap(wrap: (source: BodySource) => BodySource, sameLength: boolean): void {
    this.#source = wrap(this.#source);
    this.#held = undefined;
    this.#changed = true;
    if (sameLength) return;
    this.kind = 'stream';
    this.#downstream.request.edits.dropLength();
  }
}
