// Splitter of the body of a batch into its operations, without parsing it as one value: thirty megabytes of JSON would
// block the thread for half a second. It scans the structure alone; each piece is parsed, and refused, by itself.
import { SluiceError } from '../../errors.ts';

export interface SplitBody {
  /** The body as JSON with an empty list in the place of the operations. */
  readonly head: Buffer;
  /** Operations, one buffer each; undefined when the body has no list of that name. */
  readonly operations: readonly Buffer[] | undefined;
}

/** Bytes between two pauses: a fraction of a millisecond. */
const stride = 128 * 1024;
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Splits the body. Throws INVALID for malformed JSON, and TOO_LARGE beyond `most` operations, or where the rest of the body has
 * more than `besideMax` bytes.
 */
export function* splitBody(
  body: Buffer,
  most: number,
  besideMax = Number.POSITIVE_INFINITY,
): Generator<void, SplitBody> {
  const cut = new Cut(body, most);
  for (let from = 0; from < body.length; from = cut.read(from, Math.min(from + stride, body.length))) yield;
  if (cut.besideLength > besideMax) {
    const error = `what stands beside the operations is larger than ${besideMax / 1024 / 1024} MiB`;
    throw new SluiceError('TOO_LARGE', error);
  }
  return cut.end();
}

class Cut {
  readonly #body: Buffer;
  readonly #most: number;
  readonly #operations: Buffer[] = [];
  #depth = 0;
  #inString = false;
  /** Offset of the name of the outermost object that is being read; -1 outside of such names. */
  #nameAt = -1;
  #expectsName = false;
  #isWanted = false;
  /** True within the list of operations, whose current element begins at `elementAt`. */
  #inList = false;
  #elementAt = 0;
  #list: readonly [from: number, to: number] | undefined;

  constructor(body: Buffer, most: number) {
    this.#body = body;
    this.#most = most;
  }

  /** Scans the bytes from `from` to `to`, and returns the offset to go on from. */
  read(from: number, to: number): number {
    const body = this.#body;
    let at = from;
    for (; at < to; at++) {
      const byte = body[at];
      if (this.#inString) {
        if (byte === backslash) at += 1;
        else if (byte === quote) this.#closeString(at);
      } else if (byte === quote) {
        this.#inString = true;
        if (this.#depth === 1 && this.#expectsName) this.#nameAt = at;
      } else if (byte === openObject || byte === openList) this.#open(at, byte);
      else if (byte === closeObject || byte === closeList) this.#close(at, byte);
      else if (byte === comma) this.#separate(at);
      else if (byte === colon && this.#depth === 1) this.#expectsName = false;
    }
    return at;
  }

  /** Number of bytes outside of the operations. */
  get besideLength(): number {
    const [from, to] = this.#list ?? [0, 0];
    return this.#body.length - (to - from);
  }

  end(): SplitBody {
    if (this.#list === undefined) return { head: this.#body, operations: undefined };
    const [from, to] = this.#list;
    const head = Buffer.concat([this.#body.subarray(0, from), this.#body.subarray(to)]);
    return { head, operations: this.#operations };
  }

  #closeString(at: number): void {
    this.#inString = false;
    if (this.#nameAt < 0) return;
    this.#isWanted = isOperations(this.#body.subarray(this.#nameAt, at + 1));
    this.#nameAt = -1;
  }

  #open(at: number, byte: number): void {
    this.#depth += 1;
    if (this.#depth === 1) this.#expectsName = byte === openObject;
    if (this.#depth !== 2 || byte !== openList || !this.#isWanted) return;
    if (this.#list !== undefined) throw new SluiceError('INVALID', '/operations is given twice');
    this.#inList = true;
    this.#elementAt = at + 1;
    this.#list = [at + 1, at + 1];
  }

  #close(at: number, byte: number): void {
    this.#depth -= 1;
    if (!this.#inList || this.#depth !== 1 || this.#list === undefined) return;
    if (byte !== closeList) throw new SluiceError('INVALID', 'body is not valid JSON');
    const isEmpty = this.#operations.length === 0 && this.#body.toString('latin1', this.#elementAt, at).trim() === '';
    if (!isEmpty) this.#take(at);
    this.#inList = false;
    this.#list = [this.#list[0], at];
  }

  #separate(at: number): void {
    if (this.#inList && this.#depth === 2) this.#take(at);
    else if (this.#depth === 1) {
      this.#expectsName = true;
      this.#isWanted = false;
    }
  }

  #take(end: number): void {
    this.#operations.push(this.#body.subarray(this.#elementAt, end));
    this.#elementAt = end + 1;
    if (this.#operations.length > this.#most) {
      throw new SluiceError('TOO_LARGE', `a batch takes at most ${this.#most} operations`);
    }
  }
}

function isOperations(name: Buffer): boolean {
  try {
    return JSON.parse(name.toString()) === 'operations';
  } catch {
    return false;
  }
}
