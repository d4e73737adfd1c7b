// ClientHello (RFC 8446 §4.1.2), parsed before OpenSSL gets it: the requested server name, and the offered sessions.
// Malformed bytes are not refused here: OpenSSL gets the same bytes and refuses them.

export interface ClientHello {
  /** Server name as the client sent it; empty: none. */
  readonly serverName: string;
  /** Offered tickets: that of RFC 5077, and identities of pre-shared keys (RFC 8446 §4.2.11). */
  readonly tickets: readonly Buffer[];
}

/** `more`: it is not whole yet. `other`: no ClientHello, or none that can be read here. */
export type HelloReading = ClientHello | 'more' | 'other';

/**
 * Bytes and records of a hello; those of real clients have less than 4 KiB in one. It is parsed anew with each read.
 */
const helloBytesMax = 16 * 1024;
const recordsMax = 32;

const record = { handshake: 22, headBytes: 5 } as const;
const clientHello = 1;
const extension = { serverName: 0, sessionTicket: 35, preSharedKey: 41 } as const;
const hostName = 0;

/** @param bytes all bytes received on the connection */
export function readHello(bytes: Buffer): HelloReading {
  const message = messageIn(bytes);
  if (typeof message === 'string') return message;
  try {
    return fieldsOf(new Reader(message));
  } catch (error) {
    if (error instanceof RangeError) return 'other';
    throw error;
  }
}

/** Returns the body of the first handshake message, joined from its records. */
function messageIn(bytes: Buffer): Buffer | 'more' | 'other' {
  const parts: Buffer[] = [];
  let length = 0;
  let wanted = 4;
  for (let at = 0; length < wanted; ) {
    if (parts.length === recordsMax) return 'other';
    if (bytes.length > at && bytes[at] !== record.handshake) return 'other';
    if (bytes.length < at + record.headBytes) return bytes.length > helloBytesMax ? 'other' : 'more';
    const end = at + record.headBytes + bytes.readUInt16BE(at + 3);
    const part = bytes.subarray(at + record.headBytes, end);
    parts.push(part);
    length += part.length;
    if (length >= 4 && wanted === 4) {
      const head = Buffer.concat(parts);
      if (head[0] !== clientHello) return 'other';
      wanted = 4 + head.readUIntBE(1, 3);
      if (wanted > helloBytesMax) return 'other';
    }
    if (end > bytes.length && length < wanted) return bytes.length > helloBytesMax ? 'other' : 'more';
    at = end;
  }
  return Buffer.concat(parts).subarray(4, wanted);
}

function fieldsOf(body: Reader): ClientHello {
  // Version and random bytes.
  body.take(2 + 32);
  body.vector(1);
  body.vector(2);
  body.vector(1);
  let serverName = '';
  const tickets: Buffer[] = [];
  if (body.isAtEnd) return { serverName, tickets };
  const extensions = new Reader(body.vector(2));
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = new Reader(extensions.vector(2));
    if (type === extension.serverName) serverName = nameIn(content);
    else if (type === extension.sessionTicket && !content.isAtEnd) tickets.push(content.rest());
    else if (type === extension.preSharedKey) tickets.push(...identitiesIn(content));
  }
  return { serverName, tickets };
}

/** Returns the name of the first entry of that kind (RFC 6066 §3). */
function nameIn(content: Reader): string {
  const entries = new Reader(content.vector(2));
  while (!entries.isAtEnd) {
    const kind = entries.number(1);
    const name = entries.vector(2);
    if (kind === hostName) return name.toString('latin1');
  }
  return '';
}

function identitiesIn(content: Reader): Buffer[] {
  const identities = new Reader(content.vector(2));
  const found: Buffer[] = [];
  while (!identities.isAtEnd) {
    found.push(identities.vector(2));
    // Age of the ticket.
    identities.take(4);
  }
  return found;
}

/** Throws RangeError beyond the end. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(size: number): number {
    const value = this.#bytes.readUIntBE(this.#at, size);
    this.#at += size;
    return value;
  }

  take(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) throw new RangeError('the end is within a field');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** Returns the bytes behind their length, a number of `size` bytes. */
  vector(size: number): Buffer {
    return this.take(this.number(size));
  }

  rest(): Buffer {
    return this.take(this.#bytes.length - this.#at);
  }
}
