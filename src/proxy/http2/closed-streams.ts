// Record of the streams closed last: whether a frame for one of them was still in transit, or is an error (RFC 9113
// §5.1, closed). Older streams are forgotten.

/** `reset`: by Sluice; the peer may not have known yet. `ended`: by both sides, or by the peer's reset. */
export type ClosedHow = 'reset' | 'ended' | 'unknown';

const remembered = 256;

export class ClosedStreams {
  #ids: Int32Array | undefined;
  #next = 0;

  add(id: number, byUs: boolean): void {
    this.#ids ??= new Int32Array(remembered);
    this.#ids[this.#next] = byUs ? -id : id;
    this.#next = (this.#next + 1) % remembered;
  }

  how(id: number): ClosedHow {
    if (this.#ids === undefined) return 'unknown';
    if (this.#ids.includes(-id)) return 'reset';
    return this.#ids.includes(id) ? 'ended' : 'unknown';
  }
}
