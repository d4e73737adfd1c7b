// A header block that comes in several frames (RFC 9113 §6.10): kept until it is whole, within bounds.
import { ReceiveBuffer } from '../http1/receive-buffer.ts';
import { guards } from './guards.ts';

export class HeaderAssembly {
  readonly #held = new ReceiveBuffer();
  #frames = 0;
  /** CONTINUATION of `streamId` has to follow, and nothing else. */
  open = false;
  streamId = 0;
  /** The stream ends with this block. */
  ends = false;
  /** It says that it depends on itself. */
  selfish = false;

  get bytes(): Buffer {
    return this.#held.bytes;
  }

  get length(): number {
    return this.#held.length;
  }

  begin(streamId: number, ends: boolean, selfish: boolean): void {
    this.streamId = streamId;
    this.ends = ends;
    this.selfish = selfish;
    this.#frames = 0;
  }

  /** False: too much. */
  append(bytes: Buffer, from: number, to: number): boolean {
    this.open = true;
    if (++this.#frames > guards.blockFramesMax || this.#held.length + to - from > guards.blockBytesMax) return false;
    this.#held.append(bytes, from, to);
    return true;
  }

  end(): void {
    this.open = false;
    this.#held.clear();
  }
}
