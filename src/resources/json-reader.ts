// JSON reader for request bodies (contract.md §0.2 J1–J3, RFC 8259), in slices: a body of millions of values must not hold
// the thread as `JSON.parse` would. Keys and depth are counted while reading, so that nothing large comes to be of a body that
// is refused for them. Refuses what JSON allows and the rest of the program must never meet: prototype keys, numbers and text
// that do not survive a round trip.
import { SluiceError } from '../errors.ts';

/**
 * Limit of keys of objects in the body of an operation, at every depth together; the same for objects and lists. Other
 * elements of lists are not counted.
 */
export const keysMax = 20_000;
/** Levels of values below the outermost. */
const depthMax = 64;
/** Bytes between two pauses: a millisecond of the dearest values. */
export const sliceBytes = 32 * 1024;

/** Parses a JSON value in steps. Throws INVALID for malformed JSON, TOO_MANY_KEYS beyond `most` keys, or objects and lists. */
export function* readJson(bytes: Buffer, most = keysMax): Generator<void, unknown> {
  const reader = new JsonReader(bytes, most);
  for (let to = sliceBytes; to < bytes.length; to += sliceBytes) {
    reader.readTo(to);
    yield;
  }
  return reader.end();
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
const [space, lastDigit, firstBeyondAscii] = [0x20, 0x39, 0x80];
const constants = [
  { bytes: Buffer.from('true'), value: true },
  { bytes: Buffer.from('false'), value: false },
  { bytes: Buffer.from('null'), value: null },
] as const;

/** Open object or list. */
interface Container {
  readonly list: unknown[] | undefined;
  readonly object: Record<string, unknown>;
  key: string;
}

/** Expected token. `first`: an element or key, or the end of the container. */
type Expected = 'value' | 'first' | 'key' | 'colon' | 'next' | 'nothing';

const noMembers: Record<string, unknown> = {};

class JsonReader {
  readonly #bytes: Buffer;
  readonly #most: number;
  readonly #open: Container[] = [];
  /** Innermost open container. */
  #container: Container | undefined;
  #at = 0;
  #keys = 0;
  #containers = 0;
  #expected: Expected = 'value';
  #root: unknown;
  /** Offset of the string that is being read, behind its quote; -1 outside of strings. */
  #stringAt = -1;
  #isPlain = true;
  #hasEscapes = false;

  constructor(bytes: Buffer, most: number) {
    this.#bytes = bytes;
    this.#most = most;
  }

  /** Reads on until at least this many bytes are read. A number or constant is read whole. */
  readTo(to: number): void {
    while (this.#at < to) {
      if (this.#stringAt >= 0) this.#readString(to);
      else this.#readToken(this.#bytes[this.#at] ?? 0);
    }
  }

  end(): unknown {
    this.readTo(this.#bytes.length);
    if (this.#expected !== 'nothing' || this.#stringAt >= 0) throw this.#invalid();
    return this.#root;
  }

  #readToken(byte: number): void {
    if (byte === space || byte === 0x0a || byte === 0x0d || byte === 0x09) this.#at += 1;
    else if (byte === quote) this.#beginString();
    else if (byte === comma && this.#expected === 'next') this.#separate();
    else if (byte === colon && this.#expected === 'colon') this.#expect('value');
    else if (byte === openObject || byte === openList) this.#begin(byte);
    else if (byte === closeObject || byte === closeList) this.#close(byte);
    else this.#readScalar(byte);
  }

  #expect(expected: Expected): void {
    this.#expected = expected;
    this.#at += 1;
  }

  #separate(): void {
    this.#expect(this.#container?.list === undefined ? 'key' : 'value');
  }

  get #afterValue(): Expected {
    return this.#container === undefined ? 'nothing' : 'next';
  }

  #begin(byte: number): void {
    this.#mustTakeValue();
    this.#containers += 1;
    if (this.#containers > this.#most) throw this.#tooMany('objects and lists');
    const container =
      byte === openList ? { list: [], object: noMembers, key: '' } : { list: undefined, object: {}, key: '' };
    this.#take(container.list ?? container.object);
    this.#open.push(container);
    this.#container = container;
    this.#expect('first');
  }

  #close(byte: number): void {
    const container = this.#container;
    const isEnd = this.#expected === 'next' || this.#expected === 'first';
    if (!isEnd || container === undefined || (byte === closeList) !== (container.list !== undefined))
      throw this.#invalid();
    this.#open.pop();
    this.#container = this.#open.at(-1);
    this.#expect(this.#afterValue);
  }

  #beginString(): void {
    if (!this.#takesKey) this.#mustTakeValue();
    this.#at += 1;
    this.#stringAt = this.#at;
    this.#isPlain = true;
    this.#hasEscapes = false;
  }

  /** True where the next string is a key. */
  get #takesKey(): boolean {
    return this.#expected === 'key' || (this.#expected === 'first' && this.#container?.list === undefined);
  }

  #readString(to: number): void {
    const bytes = this.#bytes;
    const most = Math.min(to, bytes.length);
    let at = this.#at;
    for (; at < most; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === quote) {
        this.#at = at + 1;
        this.#endString(at);
        return;
      }
      if (byte === backslash) {
        this.#isPlain = false;
        this.#hasEscapes = true;
        at += 1;
      } else if (byte >= firstBeyondAscii) this.#isPlain = false;
      else if (byte < space) {
        this.#at = at;
        throw this.#invalid();
      }
    }
    this.#at = at;
  }

  #endString(end: number): void {
    const text = this.#isPlain
      ? this.#bytes.toString('latin1', this.#stringAt, end)
      : this.#decoded(this.#stringAt, end);
    this.#stringAt = -1;
    if (this.#takesKey) this.#takeKey(text);
    else {
      this.#take(text);
      this.#expected = this.#afterValue;
    }
  }

  #decoded(from: number, end: number): string {
    let text: string;
    try {
      text = decoder.decode(this.#bytes.subarray(from, end));
    } catch {
      throw invalid('body is not valid UTF-8');
    }
    if (!this.#hasEscapes) return text;
    text = this.#unescaped(text);
    if (!text.isWellFormed()) throw invalid('body holds a lone surrogate');
    return text;
  }

  #unescaped(text: string): string {
    try {
      return String(JSON.parse(`"${text}"`));
    } catch {
      throw this.#invalid();
    }
  }

  #takeKey(key: string): void {
    const container = this.#container;
    if (container === undefined) throw this.#invalid();
    if (key === '__proto__') throw invalid('body holds the forbidden key __proto__');
    this.#keys += 1;
    if (this.#keys > this.#most) throw this.#tooMany('keys of objects');
    container.key = key;
    this.#expected = 'colon';
  }

  #readScalar(byte: number): void {
    this.#mustTakeValue();
    if (byte <= lastDigit) this.#readNumber();
    else this.#readConstant(byte);
    this.#expected = this.#afterValue;
  }

  #readConstant(byte: number): void {
    const constant = constants.find(({ bytes }) => bytes[0] === byte);
    const end = this.#at + (constant?.bytes.length ?? 0);
    if (constant?.bytes.equals(this.#bytes.subarray(this.#at, end)) !== true) throw this.#invalid();
    this.#at = end;
    this.#take(constant.value);
  }

  #readNumber(): void {
    let end = this.#at;
    while (isNumberByte(this.#bytes[end])) end += 1;
    const text = this.#bytes.toString('latin1', this.#at, end);
    if (!number.test(text)) throw this.#invalid();
    const value = Number(text);
    if (!Number.isFinite(value)) throw invalid('body holds a number out of range');
    this.#at = end;
    this.#take(value);
  }

  #mustTakeValue(): void {
    const isElement = this.#expected === 'first' && this.#container?.list !== undefined;
    if (this.#expected !== 'value' && !isElement) throw this.#invalid();
    if (this.#open.length > depthMax) throw invalid(`body is nested deeper than ${depthMax} levels`);
  }

  #take(value: unknown): void {
    const container = this.#container;
    if (container === undefined) this.#root = value;
    else if (container.list !== undefined) container.list.push(value);
    else container.object[container.key] = value;
  }

  #tooMany(what: string): SluiceError {
    return new SluiceError('TOO_MANY_KEYS', `body holds more than ${this.#most} ${what}`);
  }

  /** Error for malformed JSON, which does not quote the body: it may hold a secret. */
  #invalid(): SluiceError {
    return invalid(`body is not valid JSON at position ${Math.min(this.#at, this.#bytes.length)}`);
  }
}

/** Returns whether a byte belongs to a number: digits, signs, point and exponent. */
const isNumberByte = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2b || byte === 0x2e || byte === 0x65 || byte === 0x45);

const invalid = (message: string): SluiceError => new SluiceError('INVALID', message);
