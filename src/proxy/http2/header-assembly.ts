// Header block in several frames (RFC 9113 §6.10): HEADERS without END_HEADERS, and the CONTINUATION that has to
// follow at once. Fields are decoded as they arrive; only the part of one field whose rest is in a later frame is
// held.
import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { FieldBlock } from './field-block.ts';
import { guards } from './guards.ts';
import type { HpackDecoder } from './hpack/decoder.ts';

export class HeaderAssembly {
  readonly #decoder: HpackDecoder;
  readonly #held = new ReceiveBuffer();
  #frames = 0;
  #bytes = 0;
  #fields: FieldBlock | undefined;
  /** True while CONTINUATION of `streamId`, and no other frame, has to follow. */
  open = false;
  streamId = 0;
  /** True when the stream ends with this block. */
  ends = false;
  /** True when the stream depends on itself. */
  dependsOnItself = false;

  constructor(decoder: HpackDecoder) {
    this.#decoder = decoder;
  }

  begin(streamId: number, ends: boolean, dependsOnItself: boolean): void {
    this.streamId = streamId;
    this.ends = ends;
    this.dependsOnItself = dependsOnItself;
    this.#frames = 0;
    this.#bytes = 0;
  }

  /** Directs the fields of the begun block into `fields`. */
  readTo(fields: FieldBlock): void {
    this.open = true;
    this.#fields = fields;
    this.#decoder.begin();
  }

  /** Undefined when the block has come in one frame. */
  get fields(): FieldBlock | undefined {
    return this.#fields;
  }

  /** Memory held by a block that is not whole. */
  get heldBytes(): number {
    return this.#fields === undefined ? 0 : this.#fields.listBytes + this.#held.bytes.length;
  }

  /**
   * Takes `bytes[from..to)`. Returns the reason why the block cannot be read, `flood` when it is too large, or an
   * empty text.
   */
  append(bytes: Buffer, from: number, to: number): string {
    const fields = this.#fields;
    this.#bytes += to - from;
    if (fields === undefined || ++this.#frames > guards.blockFramesMax || this.#bytes > guards.blockBytesMax)
      return 'flood';
    const held = this.#held;
    if (held.length === 0) {
      const end = this.#decoder.decodePart(bytes, from, to, fields);
      if (end < to) held.append(bytes, end, to);
    } else {
      held.append(bytes, from, to);
      held.drop(this.#decoder.decodePart(held.bytes, 0, held.length, fields));
    }
    return fields.excessive ? 'flood' : this.#decoder.problem;
  }

  /** Ends the block. Returns the reason why it cannot be read, or an empty text. */
  finish(): string {
    return this.#held.length > 0 ? 'the block ends within a field' : '';
  }

  end(): void {
    this.open = false;
    this.#fields = undefined;
    this.#held.clear();
  }
}
