// ClientHello (RFC 8446 §4.1.2), parsed before OpenSSL gets it: the requested server name, and the offered sessions.
// Malformed bytes are not refused here: the caller that ends TLS gives them to OpenSSL, which refuses them.
import { ReceiveBuffer } from '../../util/receive-buffer.ts';

export interface ClientHello {
  /** Server name as the client sent it; empty: none. */
  readonly serverName: string;
  /** Offered tickets: that of RFC 5077, and identities of pre-shared keys (RFC 8446 §4.2.11). */
  readonly tickets: readonly Buffer[];
}

/** `more`: it is not whole yet. `other`: no ClientHello, or none that can be read here. */
export type HelloReading = ClientHello | 'more' | 'other';

/** Bounds of a hello, in bytes. */
export interface HelloBounds {
  /** Its message, joined from its records. */
  readonly message: number;
  /** Bytes received while it is not whole, with the heads of its records. */
  readonly received: number;
}

/** Hellos of real clients have less than 4 KiB in one record. */
const usualBounds: HelloBounds = { message: 16 * 1024, received: 32 * 1024 };

const record = { handshake: 22, headBytes: 5 } as const;
const clientHello = 1;
const extension = { serverName: 0, sessionTicket: 35, preSharedKey: 41 } as const;
const hostName = 0;
/** Bytes of a server name (RFC 6066 §3: a name of DNS). OpenSSL refuses longer ones; to look one up costs its length squared. */
const nameBytesMax = 255;

/** Reader of the hello of one connection, piece by piece: each byte is looked at once. */
export class HelloReader {
  readonly #bounds: HelloBounds;
  readonly #message = new ReceiveBuffer();
  /** Place of the next byte. */
  #at = 0;
  /** Bytes of the current record that have not been received. */
  #left = 0;

  constructor(bounds: HelloBounds = usualBounds) {
    this.#bounds = bounds;
  }

  /** @param bytes all bytes received on the connection; they begin with those of the call before */
  read(bytes: Buffer): HelloReading {
    for (;;) {
      if (this.#left === 0) {
        const at = this.#at;
        if (bytes.length > at && bytes[at] !== record.handshake) return 'other';
        if (bytes.length < at + record.headBytes) break;
        this.#left = bytes.readUInt16BE(at + 3);
        // RFC 8446 §5.1
        if (this.#left === 0) return 'other';
        this.#at += record.headBytes;
      }
      const end = Math.min(bytes.length, this.#at + this.#left);
      const whole = this.#message.length === 0 ? this.#wholeIn(bytes, this.#at, end) : undefined;
      if (whole !== undefined) return whole;
      this.#message.append(bytes, this.#at, end);
      this.#left -= end - this.#at;
      this.#at = end;
      const wanted = this.#wanted();
      if (wanted > this.#bounds.message) return 'other';
      if (this.#message.length >= wanted) return helloIn(this.#message.content, headBytes, wanted);
      if (this.#left > 0) break;
    }
    return bytes.length > this.#bounds.received ? 'other' : 'more';
  }

  /** Returns the hello that is whole within a part of its first record, as most are: without a copy. */
  #wholeIn(bytes: Buffer, from: number, to: number): ClientHello | 'other' | undefined {
    if (to - from < headBytes || bytes[from] !== clientHello) return undefined;
    const length = headBytes + bytes.readUIntBE(from + 1, 3);
    if (length > to - from || length > this.#bounds.message) return undefined;
    return helloIn(bytes, from + headBytes, from + length);
  }

  /** Returns the length of the message; infinite when it is no ClientHello. */
  #wanted(): number {
    const { content, length } = this.#message;
    if (length > 0 && content[0] !== clientHello) return Number.POSITIVE_INFINITY;
    return length < headBytes ? headBytes : headBytes + content.readUIntBE(1, 3);
  }
}

/** Type and length of a handshake message. */
const headBytes = 4;

function helloIn(bytes: Buffer, from: number, to: number): ClientHello | 'other' {
  try {
    return fieldsOf(new Reader(bytes, from, to));
  } catch (error) {
    if (error instanceof RangeError) return 'other';
    throw error;
  }
}

function fieldsOf(body: Reader): ClientHello {
  // Version and random bytes.
  body.skip(2 + 32);
  body.skip(body.number(1));
  body.skip(body.number(2));
  body.skip(body.number(1));
  let serverName = '';
  const tickets: Buffer[] = [];
  if (body.isAtEnd) return { serverName, tickets };
  const extensions = body.vector(2);
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type === extension.serverName) serverName = nameIn(content);
    else if (type === extension.sessionTicket && !content.isAtEnd) tickets.push(content.rest());
    else if (type === extension.preSharedKey) tickets.push(...identitiesIn(content));
  }
  return { serverName, tickets };
}

/** Returns the name of the first entry of that kind (RFC 6066 §3). */
function nameIn(content: Reader): string {
  const entries = content.vector(2);
  while (!entries.isAtEnd) {
    const kind = entries.number(1);
    const name = entries.vector(2).rest();
    if (kind === hostName && name.length > nameBytesMax) throw new RangeError('no name of DNS is as long');
    if (kind === hostName) return name.toString('latin1');
  }
  return '';
}

function identitiesIn(content: Reader): Buffer[] {
  const identities = content.vector(2);
  const found: Buffer[] = [];
  while (!identities.isAtEnd) {
    found.push(identities.vector(2).rest());
    // Age of the ticket.
    identities.skip(4);
  }
  return found;
}

/** Reader of a part of the bytes. Throws RangeError beyond its end. */
class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, from: number, to: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** Reads a number of one or two bytes. */
  number(size: 1 | 2): number {
    const at = this.#at;
    this.skip(size);
    const first = this.#bytes[at] ?? 0;
    return size === 1 ? first : (first << 8) | (this.#bytes[at + 1] ?? 0);
  }

  skip(count: number): void {
    if (this.#at + count > this.#end) throw new RangeError('the end is within a field');
    this.#at += count;
  }

  /** Returns a reader of the bytes behind their length, a number of `size` bytes. */
  vector(size: 1 | 2): Reader {
    const count = this.number(size);
    const from = this.#at;
    this.skip(count);
    return new Reader(this.#bytes, from, from + count);
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#at, this.#end);
  }
}
