// Base64 of a stream (RFC 4648 §4): segments, each padded by itself, that may be cut anywhere into chunks.

/** Segment that is decoded at once: groups of four, the last of which may be padded. */
const segment = /(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=/y;

export class Base64Decoder {
  /** Characters of a group that has not arrived whole. */
  #rest = '';

  /** False while a group is incomplete. */
  get isWhole(): boolean {
    return this.#rest === '';
  }

  /** Returns the bytes of all whole groups; undefined when the text is no base64. */
  decode(chunk: Buffer): Buffer | undefined {
    const text = this.#rest + chunk.toString('latin1');
    const end = text.length - (text.length % 4);
    this.#rest = text.slice(end);
    const groups = text.slice(0, end);
    const parts: Buffer[] = [];
    segment.lastIndex = 0;
    for (let at = 0; at < end; at = segment.lastIndex) {
      const [found] = segment.exec(groups) ?? [];
      if (found === undefined) return undefined;
      parts.push(Buffer.from(found, 'base64'));
    }
    const [only, ...others] = parts;
    return others.length === 0 ? (only ?? Buffer.alloc(0)) : Buffer.concat(parts);
  }
}
