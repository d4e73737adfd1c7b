// Byte streams that are nearly right, the same ones for the same seed.

/** Numbers in [0, 1), from a 32-bit seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const telling = Buffer.from('\r\n\r\n \t:;,=+-0159afx"\0\x0b\x7f\x80\xffCTHu/*?#@[]%', 'latin1');

/** Makes one to four changes: a byte replaced, removed, inserted, a part repeated, or the rest of another stream. */
export function mutated(streams: readonly Buffer[], random: () => number): Buffer {
  const pick = (below: number): number => Math.floor(random() * below);
  let bytes = streams[pick(streams.length)] ?? Buffer.alloc(0);
  for (let changes = 1 + pick(4); changes > 0; changes--) {
    const at = pick(bytes.length);
    const byte = telling.subarray(pick(telling.length)).subarray(0, 1);
    const other = streams[pick(streams.length)] ?? bytes;
    const replaced = [
      () => [bytes.subarray(0, at), byte, bytes.subarray(at + 1)],
      () => [bytes.subarray(0, at), bytes.subarray(at + 1 + pick(3))],
      () => [bytes.subarray(0, at), byte, bytes.subarray(at)],
      () => [bytes.subarray(0, at), bytes.subarray(Math.max(0, at - pick(20)))],
      () => [bytes.subarray(0, at), other.subarray(pick(other.length))],
    ][pick(5)];
    bytes = Buffer.concat(replaced?.() ?? [bytes]);
  }
  return bytes;
}
