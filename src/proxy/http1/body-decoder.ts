// Body decoder: separates the bytes of a body from the bytes of a connection, for each kind of framing (RFC 9112
// §6–§7). Chunk framing is strict and bounded; an ambiguity is a problem, and the connection ends there.
import { CR, HT, hexValue, LF, SP, tokenByte, valueByte } from './characters.ts';
import type { BodyKind } from './framing.ts';
import type { Head } from './head.ts';
import type { Lenience } from './lenience.ts';
import { LenientTrailerParser } from './lenient-trailer-parser.ts';
import { TrailerParser } from './trailer-parser.ts';

/** Bytes of chunk extensions in one body. No client sends useful ones, so a flood of them is an attack. */
const extensionBytesMax = 16 * 1024;

const SEMICOLON = 59;
const EQUALS = 61;
const QUOTE = 34;
const BACKSLASH = 92;

/** States of the chunk parser. */
const state = {
  sizeStart: 0,
  size: 1,
  extensionName: 2,
  extensionValueStart: 3,
  extensionValue: 4,
  quoted: 5,
  quotedPair: 6,
  quotedEnd: 7,
  sizeLf: 8,
  data: 9,
  dataCr: 10,
  dataLf: 11,
  trailers: 12,
  /** Blanks before the semicolon of a chunk extension, and before its `=` (BWS, RFC 9112 §7.1.1). */
  beforeExtension: 13,
  beforeEquals: 14,
} as const;

export class BodyDecoder {
  /** True once the body is complete. */
  done = true;
  /** Reason why the body cannot be read further; empty while it can. */
  problem = '';
  /** Start of the body's data in the bytes given to `decode`; no data when it equals `dataEnd`. */
  dataStart = 0;
  dataEnd = 0;
  #kind: BodyKind = 'none';
  #left = 0;
  #state: number = state.sizeStart;
  #extensionBytes = 0;
  /** Bytes of the chunk size or extension name so far. */
  #tokenBytes = 0;
  #trailers: TrailerParser | undefined;
  /** Consulted only where the strict rules refuse. */
  readonly #lenience: Lenience | undefined;

  constructor(lenience?: Lenience) {
    this.#lenience = lenience;
  }

  reset(kind: BodyKind, length: number): void {
    this.#kind = kind;
    this.#left = kind === 'chunked' ? 0 : length;
    this.#state = state.sizeStart;
    this.#extensionBytes = 0;
    this.#tokenBytes = 0;
    this.#trailers = undefined;
    this.problem = '';
    this.done = kind === 'none' || (kind === 'length' && length === 0);
  }

  /** Field lines after the last chunk; undefined when there are none. Valid until the next `reset`. */
  get trailers(): Head | undefined {
    const head = this.#trailers?.head;
    return head === undefined || head.count === 0 ? undefined : head;
  }

  /**
   * Reads on from `bytes[from..to)`, sets `dataStart` and `dataEnd`, and returns the position where it stopped: `to`,
   * or the first byte after the body. Moves the data of chunks that arrived together next to each other, so it writes
   * to `bytes`.
   */
  decode(bytes: Buffer, from: number, to: number): number {
    this.dataStart = from;
    this.dataEnd = from;
    if (this.done) return from;
    if (this.#kind === 'chunked') return this.#decodeChunks(bytes, from, to);
    const end = this.#kind === 'close' ? to : Math.min(to, from + this.#left);
    this.dataEnd = end;
    if (this.#kind === 'length') {
      this.#left -= end - from;
      this.done = this.#left === 0;
    }
    return end;
  }

  /**
   * Returns the problem that `decode` will find with the chunks in `bytes[from..to)`, trailers aside; empty when
   * there is none. Called before the first `decode`; changes no state.
   */
  findProblem(bytes: Buffer, from: number, to: number): string {
    if (this.#kind !== 'chunked') return '';
    let at = from;
    while (at < to && this.#state !== state.trailers && this.problem === '') {
      if (this.#state === state.data) {
        const end = Math.min(to, at + this.#left);
        this.#left -= end - at;
        if (this.#left === 0) this.#state = state.dataCr;
        at = end;
      } else this.#step(bytes[at++] ?? 0);
    }
    const { problem } = this;
    this.reset('chunked', 0);
    return problem;
  }

  /**
   * Handles the end of the connection. A body framed by it is complete unless the end itself was `cut` (RFC 9112
   * §9.8); any other body is cut short.
   */
  endOfInput(cut = ''): void {
    if (this.#kind === 'close' && cut === '') this.done = true;
    else if (!this.done && cut !== '') this.problem = cut;
    else if (!this.done) this.problem = 'body cut short';
  }

  #decodeChunks(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (at < to && !this.done) {
      if (this.#state === state.data) at = this.#takeData(bytes, at, to);
      else if (this.#state === state.trailers) at = this.#takeTrailers(bytes, at, to);
      else if (!this.#step(bytes[at++] ?? 0)) return to;
      if (this.problem !== '') return to;
    }
    return at;
  }

  #takeData(bytes: Buffer, at: number, to: number): number {
    const end = Math.min(to, at + this.#left);
    if (this.dataEnd === this.dataStart) {
      this.dataStart = at;
      this.dataEnd = end;
    } else {
      bytes.copyWithin(this.dataEnd, at, end);
      this.dataEnd += end - at;
    }
    this.#left -= end - at;
    if (this.#left === 0) this.#state = state.dataCr;
    return end;
  }

  #takeTrailers(bytes: Buffer, at: number, to: number): number {
    this.#trailers ??= this.#lenience === undefined ? new TrailerParser() : new LenientTrailerParser(this.#lenience);
    const consumed = this.#trailers.feed(bytes, at, to);
    if (this.#trailers.complete) this.done = true;
    else if (this.#trailers.problem !== '') this.problem = this.#trailers.problem;
    return at + consumed;
  }

  /** Handles one byte of chunk framing; returns false on a problem. */
  #step(byte: number): boolean {
    switch (this.#state) {
      case state.sizeStart:
      case state.size:
        return this.#stepSize(byte);
      case state.sizeLf:
        return byte === LF ? this.#endSize() : this.#fail('CR without LF after a chunk size');
      case state.dataCr:
        this.#state = byte === CR ? state.dataLf : state.sizeStart;
        return byte === CR || this.#endsBarely(byte) || this.#fail('a chunk longer than its size');
      case state.dataLf:
        this.#state = state.sizeStart;
        return byte === LF || this.#fail('CR without LF after a chunk');
      default:
        return this.#stepExtension(byte);
    }
  }

  #stepSize(byte: number): boolean {
    const digit = hexValue[byte] ?? 255;
    if (digit < 16) {
      if (this.#left > 0xff_ffff_ffff) return this.#fail('chunk size too large');
      this.#left = (this.#state === state.sizeStart ? 0 : this.#left * 16) + digit;
      this.#state = state.size;
      this.#tokenBytes++;
      return this.#tokenBytes <= 16 || this.#fail('chunk size too long');
    }
    if (this.#state === state.sizeStart) return this.#fail('invalid chunk size');
    this.#tokenBytes = 0;
    return this.#afterExtension(byte, 'invalid chunk size');
  }

  #stepExtension(byte: number): boolean {
    if (++this.#extensionBytes > extensionBytesMax) return this.#fail('chunk extensions too large');
    switch (this.#state) {
      case state.extensionName:
        if (tokenByte[byte] === 1) {
          this.#tokenBytes++;
          return true;
        }
        if (this.#tokenBytes === 0) return isBlank(byte) || this.#fail('invalid chunk extension');
        this.#tokenBytes = 0;
        return this.#afterName(byte);
      case state.beforeEquals:
        return isBlank(byte) || (!isLineEnd(byte) ? this.#afterName(byte) : this.#fail('invalid chunk extension'));
      case state.extensionValueStart:
        if (isBlank(byte)) return true;
        this.#state = byte === QUOTE ? state.quoted : state.extensionValue;
        return byte === QUOTE || tokenByte[byte] === 1 || this.#fail('invalid chunk extension');
      case state.extensionValue:
        return tokenByte[byte] === 1 || this.#afterExtension(byte, 'invalid chunk extension');
      case state.quoted:
        if (byte === QUOTE) this.#state = state.quotedEnd;
        else if (byte === BACKSLASH) this.#state = state.quotedPair;
        return valueByte[byte] === 1 || this.#fail('invalid chunk extension');
      case state.quotedPair:
        this.#state = state.quoted;
        return valueByte[byte] === 1 || this.#fail('invalid chunk extension');
      case state.beforeExtension:
        if (isLineEnd(byte) && this.#lenience?.paddedChunkSize !== true) {
          return this.#fail('blank at the end of a chunk size');
        }
        return this.#afterExtension(byte, 'invalid chunk extension');
      default:
        return this.#afterExtension(byte, 'invalid chunk extension');
    }
  }

  #afterName(byte: number): boolean {
    if (isBlank(byte)) this.#state = state.beforeEquals;
    else if (byte === EQUALS) this.#state = state.extensionValueStart;
    else return this.#afterExtension(byte, 'invalid chunk extension');
    return true;
  }

  #afterExtension(byte: number, problem: string): boolean {
    if (byte === SEMICOLON) this.#state = state.extensionName;
    else if (isBlank(byte)) this.#state = state.beforeExtension;
    else if (byte === CR) this.#state = state.sizeLf;
    else if (this.#endsBarely(byte)) this.#endSize();
    else return this.#fail(problem);
    return true;
  }

  #endSize(): true {
    this.#state = this.#left === 0 ? state.trailers : state.data;
    return true;
  }

  /** Returns whether LF may end this line without CR. */
  #endsBarely(byte: number): boolean {
    return byte === LF && this.#lenience?.bareLf === true;
  }

  #fail(problem: string): false {
    this.problem = problem;
    return false;
  }
}

const isLineEnd = (byte: number): boolean => byte === CR || byte === LF;

const isBlank = (byte: number): boolean => byte === SP || byte === HT;
