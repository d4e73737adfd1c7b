// Sealed records: the frames of a connection, encrypted and authenticated under keys of its two ends (raft.md A21,
// docs/decisions/frames-are-sealed.md). A record on the wire: length u32 · ciphertext · tag, 16 bytes. Length counts the
// ciphertext. The nonce is the number of the record and does not travel: a record that was changed, repeated, left out or
// put elsewhere does not open.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** AES-256 keys, one for each direction. */
export interface RecordKeys {
  readonly send: Uint8Array;
  readonly receive: Uint8Array;
}

/** Use of one key until the next. Both ends count alike, so the change of the key takes no message. */
export interface RekeyLimits {
  readonly records: number;
  readonly bytes: number;
}

/** Far below the 2^32 records of NIST SP 800-38D §8, and below the bytes of RFC 8446 §5.5 at this length of records. */
const rekeyLimits: RekeyLimits = { records: 2 ** 24, bytes: 2 ** 36 };

const algorithm = 'aes-256-gcm';
const headBytes = 4;
const tagBytes = 16;
const nonceBytes = 12;
/** Beyond this a record is refused before a byte of it is kept. A sender stays below: a fragment and what goes before it. */
const recordBytesMax = 512 * 1024;
/** Parts that are shorter together are copied into one: each call of the cipher has its price. */
const copiedBytesMax = 32 * 1024;

/** The key of one direction: counts what it seals, and follows itself when it has sealed enough. */
class RecordKey {
  readonly #limits: RekeyLimits;
  readonly #nonce = Buffer.alloc(nonceBytes);
  #key: KeyObject;
  #records = 0;
  #bytes = 0;

  constructor(key: Uint8Array, limits: RekeyLimits) {
    this.#key = createSecretKey(key);
    this.#limits = limits;
  }

  get object(): KeyObject {
    return this.#key;
  }

  /** Number of the record that is next. */
  get nonce(): Uint8Array {
    this.#nonce.writeUIntBE(this.#records, nonceBytes - 6, 6);
    return this.#nonce;
  }

  used(bytes: number): void {
    this.#records += 1;
    this.#bytes += bytes;
    if (this.#records < this.#limits.records && this.#bytes < this.#limits.bytes) return;
    this.#key = createSecretKey(new Uint8Array(hkdfSync('sha256', this.#key, '', 'sluice next records', 32)));
    this.#records = 0;
    this.#bytes = 0;
  }
}

export class RecordSealer {
  readonly #key: RecordKey;

  constructor(key: Uint8Array, limits: RekeyLimits = rekeyLimits) {
    this.#key = new RecordKey(key, limits);
  }

  /** Records that hold `parts` one behind the other, to be written in this order. */
  seal(parts: readonly Uint8Array[]): Buffer[] {
    const sealed: Buffer[] = [];
    for (let from = 0; from < parts.length; ) {
      const [end, bytes] = recordFrom(parts, from);
      this.#sealOne(parts.slice(from, end), bytes, sealed);
      from = end;
    }
    return sealed;
  }

  #sealOne(parts: readonly Uint8Array[], bytes: number, sealed: Buffer[]): void {
    const cipher = createCipheriv(algorithm, this.#key.object, this.#key.nonce);
    const head = Buffer.allocUnsafe(headBytes);
    head.writeUInt32BE(bytes, 0);
    const isCopied = bytes <= copiedBytesMax;
    const text = (isCopied && parts.length > 1 ? [Buffer.concat(parts, bytes)] : parts).map((part) =>
      cipher.update(part),
    );
    cipher.final();
    const record = [head, ...text, cipher.getAuthTag()];
    if (isCopied) sealed.push(Buffer.concat(record));
    else sealed.push(...record);
    this.#key.used(bytes);
  }
}

/** End of the record that begins with part `from`, and its length. */
function recordFrom(parts: readonly Uint8Array[], from: number): [end: number, bytes: number] {
  let bytes = 0;
  let end = from;
  for (; end < parts.length; end += 1) {
    const { length } = parts[end]!;
    if (length > recordBytesMax) throw new RangeError(`a part of ${length} bytes is too large for a record`);
    if (bytes + length > recordBytesMax) break;
    bytes += length;
  }
  return [end, bytes];
}

/** Takes the bytes of one direction as they come. It never throws for what it is fed, and is of no use after a problem. */
export class RecordOpener {
  readonly #key: RecordKey;
  /** The record that has not come whole: its head first, then room for all of it. */
  #record: Buffer = Buffer.allocUnsafe(headBytes);
  #held = 0;

  constructor(key: Uint8Array, limits: RekeyLimits = rekeyLimits) {
    this.#key = new RecordKey(key, limits);
  }

  /** Calls `take` with the content of each record that `chunk` completes, once its tag is known to be right. */
  push(chunk: Buffer, take: (content: Buffer) => string | undefined): string | undefined {
    for (let at = 0; at < chunk.length; ) {
      const whole = this.#held === 0 ? wholeRecord(chunk, at) : 0;
      const added = whole > 0 ? whole : this.#keep(chunk, at);
      const record = whole > 0 ? chunk.subarray(at, at + whole) : this.#record;
      at += added;
      if (whole === 0 && this.#held < record.length) continue;
      const problem = record.length === headBytes ? this.#makeRoom() : this.#open(record, take);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #keep(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#record, this.#held, at);
    this.#held += copied;
    return copied;
  }

  #makeRoom(): string | undefined {
    const length = this.#record.readUInt32BE(0);
    if (length === 0 || length > recordBytesMax) return `sealed record of ${length} bytes`;
    const record = Buffer.allocUnsafe(headBytes + length + tagBytes);
    this.#record.copy(record);
    this.#record = record;
    return undefined;
  }

  #open(record: Buffer, take: (content: Buffer) => string | undefined): string | undefined {
    this.#record = Buffer.allocUnsafe(headBytes);
    this.#held = 0;
    const end = record.length - tagBytes;
    const decipher = createDecipheriv(algorithm, this.#key.object, this.#key.nonce, { authTagLength: tagBytes });
    decipher.setAuthTag(record.subarray(end));
    const content = decipher.update(record.subarray(headBytes, end));
    try {
      decipher.final();
    } catch {
      return 'a sealed record is not what the peer sent: something on the way changed, repeated or added it';
    }
    this.#key.used(content.length);
    return take(content);
  }
}

/** Length of the record that lies whole in `chunk` at that place, or 0. */
function wholeRecord(chunk: Buffer, at: number): number {
  if (chunk.length - at < headBytes) return 0;
  const length = chunk.readUInt32BE(at);
  const whole = headBytes + length + tagBytes;
  return length > 0 && length <= recordBytesMax && at + whole <= chunk.length ? whole : 0;
}
