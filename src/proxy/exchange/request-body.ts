// The body that the upstream is to get: the client's own, or what middlewares made of it (proxy.md, Bodies). One for each
// exchange slot, begun anew with each request.
import type { BodySource } from '../message/body.ts';
import type { BodyKind } from '../message/request.ts';
import type { Downstream } from './downstream.ts';
import { type CollectedBody, collected, HeldBody, nothing, nullSink, WholeBody } from './held-body.ts';

export class RequestBody {
  /** As the client sent it, or as middlewares left it. */
  kind: BodyKind = 'none';
  readonly #downstream: Downstream;
  #source: BodySource;
  /** The body, while it is one that can be held. */
  #held: HeldBody | undefined;
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
    this.#source = this.#downstream;
    this.#held = undefined;
  }

  /** Nobody has read any of it yet. */
  get untouched(): boolean {
    return this.#source === this.#downstream;
  }

  /** No middleware has put another in its place, nor looks on while it passes. */
  get unchanged(): boolean {
    return !this.#changed;
  }

  /** To be started once. */
  get source(): BodySource {
    return this.#source;
  }

  /** The same, in a form that can be held and started over. */
  get held(): HeldBody {
    if (this.#held === undefined) {
      this.#held = new HeldBody(this.#source);
      this.#source = this.#held;
    }
    return this.#held;
  }

  collect(bytesMax: number): CollectedBody | undefined | Promise<CollectedBody | undefined> {
    if (this.kind === 'none') return { bytes: nothing, whole: true };
    if (this.#downstream.request.expectContinue) this.#downstream.response.continue();
    return collected(this.held, bytesMax);
  }

  replace(bytes: Uint8Array): void {
    // What of the old one has not come yet is still to come.
    if (this.kind !== 'none' && this.#held?.whole !== true) this.#source.start(nullSink);
    this.#source = new WholeBody(bytes);
    this.#held = undefined;
    this.#changed = true;
    this.kind = 'length';
    this.#downstream.request.edits.setLength(bytes.length);
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
