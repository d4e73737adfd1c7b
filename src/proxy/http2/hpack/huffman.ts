// Huffman code of HPACK (RFC 7541, appendix B), decoded four bits at a time through a table made from the code
// lengths alone: codes of one length follow each other in the order of their symbols.

/** Code length in bits per symbol; the last is EOS. */
// biome-ignore format: a table
export const codeBits: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];

const endOfString = 256;

/** Returns the largest number of bytes that `length` bytes decode to: the shortest code has 5 bits. */
export const decodedBytesMax = (length: number): number => Math.floor((length * 8) / 5);

/** Builds the code tree. Inner nodes are the states; each edge leads to another, or to a symbol as −1 − symbol. */
function growTree(): number[][] {
  const nodes: number[][] = [[]];
  const order = codeBits.map((_, symbol) => symbol).sort((a, b) => bitsOf(a) - bitsOf(b) || a - b);
  let code = 0;
  let length = bitsOf(order[0] ?? 0);
  for (const symbol of order) {
    code *= 2 ** (bitsOf(symbol) - length);
    length = bitsOf(symbol);
    plant(nodes, code++, length, symbol);
  }
  return nodes;
}

const bitsOf = (symbol: number): number => codeBits[symbol] ?? 0;

function plant(nodes: number[][], code: number, length: number, symbol: number): void {
  let at = 0;
  for (let bit = length - 1; bit >= 0; bit--) {
    const node = nodes[at] ?? [];
    const edge = (code >>> bit) & 1;
    if (bit === 0) node[edge] = -1 - symbol;
    else {
      node[edge] ??= nodes.push([]) - 1;
      at = node[edge] ?? 0;
    }
  }
}

/**
 * Transition per state and four bits: the next state, and from bit 8 on the symbol plus 1 that they complete, if any.
 */
const steps = new Uint32Array(256 * 16);
/** 1 where a text may end in the state: the bits since the last symbol are padding (fewer than 8 bits, all ones). */
const mayEnd = new Uint8Array(256);
const failed = 0xffffff;

function fillTables(): void {
  const nodes = growTree();
  for (let state = 0; state < nodes.length; state++) {
    for (let bits = 0; bits < 16; bits++) steps[state * 16 + bits] = stepFrom(nodes, state, bits);
  }
  for (let depth = 0, at = 0; depth < 8; depth++) {
    mayEnd[at] = 1;
    at = nodes[at]?.[1] ?? 0;
  }
}

function stepFrom(nodes: number[][], state: number, bits: number): number {
  let at = state;
  let symbol = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next = nodes[at]?.[(bits >>> bit) & 1] ?? 0;
    if (next === -1 - endOfString) return failed;
    if (next < 0) symbol = -next;
    at = Math.max(0, next);
  }
  return (symbol << 8) | at;
}

fillTables();

/**
 * Decodes `bytes[from..to)` into `out`, which has room for `decodedBytesMax` of it. Returns the number of decoded
 * bytes; −1 when the bytes are not valid in this code.
 */
export function decodeHuffman(bytes: Uint8Array, from: number, to: number, out: Uint8Array): number {
  let state = 0;
  let length = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    const high = steps[(state << 4) | (byte >>> 4)] ?? failed;
    if (high === failed) return -1;
    if (high > 255) out[length++] = (high >>> 8) - 1;
    const low = steps[((high & 255) << 4) | (byte & 15)] ?? failed;
    if (low === failed) return -1;
    if (low > 255) out[length++] = (low >>> 8) - 1;
    state = low & 255;
  }
  return mayEnd[state] === 1 ? length : -1;
}
