// Session within a ticket, in OpenSSL's formats: the server name that the session was made for. A ticket is the name
// of its key, a vector, the session under AES-128-CBC, and an HMAC (RFC 5077 §4), which OpenSSL checks.
import { createDecipheriv } from 'node:crypto';

const nameBytes = 16;
const ivBytes = 16;
const hmacBytes = 32;

/** Returns the name of the ticket's key: its first bytes. */
export const keyNameOf = (ticket: Buffer): Buffer => ticket.subarray(0, nameBytes);

/** Returns the server name of the session; empty: it has none. Undefined: the ticket cannot be read. */
export function serverNameIn(ticket: Buffer, aes: Buffer): string | undefined {
  const sealed = ticket.subarray(nameBytes + ivBytes, -hmacBytes);
  if (ticket.length <= nameBytes + ivBytes + hmacBytes) return undefined;
  try {
    const decipher = createDecipheriv('aes-128-cbc', aes, ticket.subarray(nameBytes, nameBytes + ivBytes));
    return hostIn(Buffer.concat([decipher.update(sealed), decipher.final()]));
  } catch {
    return undefined;
  }
}

const tag = { sequence: 0x30, octets: 0x04, host: 0xa6 } as const;

/**
 * Returns the host of an `SSL_SESSION_ASN1` of OpenSSL: a sequence, in which the name is an octet string under the
 * tag [6]. Throws RangeError.
 */
function hostIn(session: Buffer): string | undefined {
  const [outer] = elementsOf(session);
  if (outer?.tag !== tag.sequence) return undefined;
  const host = elementsOf(outer.content).find((element) => element.tag === tag.host);
  if (host === undefined) return '';
  const [name] = elementsOf(host.content);
  return name?.tag === tag.octets ? name.content.toString('latin1') : undefined;
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** Returns elements of DER, one behind the other. */
function elementsOf(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes.readUInt8(at);
    const first = bytes.readUInt8(at + 1);
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
    const from = at + 2 + lengthBytes;
    if (from + length > bytes.length) throw new RangeError('the end is within an element');
    elements.push({ tag: kind, content: bytes.subarray(from, from + length) });
    at = from + length;
  }
  return elements;
}
