// PROXY protocol (HAProxy's specification of 2020-03-05): the head that a proxy sends before the bytes of a connection,
// with the addresses of its client. Version 1 is text, version 2 binary with TLVs.
import { isIPv4, isIPv6 } from 'node:net';
import { crc32c } from '../../../disk/crc32c.ts';
import { ipBytes, shortest } from '../../util/ip-address.ts';

/** One end of a connection. */
export interface SocketPlace {
  readonly address: string;
  readonly port: number;
}

/** Ends of the connection that a head is about. */
export interface ProxiedPlaces {
  readonly source: SocketPlace;
  readonly destination: SocketPlace;
}

interface ProxyHeader {
  /** Bytes of the head. */
  readonly length: number;
  /** Undefined: LOCAL, UNKNOWN, or a family without addresses of IP. */
  readonly places: ProxiedPlaces | undefined;
}

/** `more`: it is not whole. `none`: the bytes are no head. `invalid`: they are one that breaks the rules. */
export type HeaderReading = ProxyHeader | 'more' | 'none' | 'invalid';

const v1Prefix = Buffer.from('PROXY ');
const v2Signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const v1BytesMax = 107;
const v2HeadBytes = 16;
const v2BytesMax = 4096;
const crlf = Buffer.from('\r\n');

/** @param bytes all bytes of the connection so far */
export function readProxyHeader(bytes: Buffer): HeaderReading {
  if (beginsWith(bytes, v1Prefix)) return bytes.length < v1Prefix.length ? 'more' : readText(bytes);
  if (beginsWith(bytes, v2Signature)) return bytes.length < v2HeadBytes ? 'more' : readBinary(bytes);
  return 'none';
}

/** Returns whether the bytes are the beginning of `prefix`, or begin with it. */
function beginsWith(bytes: Buffer, prefix: Buffer): boolean {
  const length = Math.min(bytes.length, prefix.length);
  return bytes.subarray(0, length).equals(prefix.subarray(0, length));
}

function readText(bytes: Buffer): HeaderReading {
  const end = bytes.subarray(0, v1BytesMax).indexOf(crlf);
  if (end < 0) return bytes.length < v1BytesMax ? 'more' : 'invalid';
  const length = end + crlf.length;
  const [family, source = '', destination = '', sourcePort = '', destinationPort = '', ...more] = bytes
    .toString('latin1', v1Prefix.length, end)
    .split(' ');
  if (family === 'UNKNOWN') return { length, places: undefined };
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : undefined;
  if (isAddress === undefined || more.length > 0 || source.includes('%') || destination.includes('%')) return 'invalid';
  if (!isAddress(source) || !isAddress(destination)) return 'invalid';
  const ports = [sourcePort, destinationPort].map((text) => (/^(0|[1-9]\d{0,4})$/.test(text) ? Number(text) : -1));
  const [from = -1, to = -1] = ports;
  if (ports.some((port) => port < 0 || port > 65_535)) return 'invalid';
  return {
    length,
    places: {
      source: { address: shortest(source), port: from },
      destination: { address: shortest(destination), port: to },
    },
  };
}

const command = { local: 0x20, proxy: 0x21 } as const;
const family = { tcp4: 0x11, tcp6: 0x21 } as const;
const addressBytes = { tcp4: 12, tcp6: 36 } as const;
/** Bytes of the addresses of each family, by the upper half of its byte. */
const leastBytes: Readonly<Record<number, number>> = { 0: 0, 1: 12, 2: 36, 3: 216 };

function readBinary(bytes: Buffer): HeaderReading {
  const verb = bytes[12] ?? 0;
  const kind = bytes[13] ?? 0;
  const length = v2HeadBytes + bytes.readUInt16BE(14);
  if (length > v2BytesMax || (verb !== command.local && verb !== command.proxy)) return 'invalid';
  const least = leastBytes[kind >> 4];
  if (verb === command.proxy && (least === undefined || (kind & 15) > 2 || length < v2HeadBytes + least))
    return 'invalid';
  if (bytes.length < length) return 'more';
  if (verb === command.local) return { length, places: undefined };
  if (!areTlvs(bytes, v2HeadBytes + (least ?? 0), length)) return 'invalid';
  return { length, places: placesIn(bytes, kind) };
}

function placesIn(bytes: Buffer, kind: number): ProxiedPlaces | undefined {
  if (kind !== family.tcp4 && kind !== family.tcp6) return undefined;
  const width = kind === family.tcp4 ? 4 : 16;
  const addressAt = (at: number): string => {
    const part = bytes.subarray(at, at + width);
    if (width === 4) return part.join('.');
    const groups = Array.from({ length: 8 }, (_, group) => part.readUInt16BE(group * 2).toString(16));
    return shortest(groups.join(':'));
  };
  const ports = v2HeadBytes + 2 * width;
  return {
    source: { address: addressAt(v2HeadBytes), port: bytes.readUInt16BE(ports) },
    destination: { address: addressAt(v2HeadBytes + width), port: bytes.readUInt16BE(ports + 2) },
  };
}

const tlv = { alpn: 0x01, authority: 0x02, crc32c: 0x03, ssl: 0x20 } as const;
const tlvHeadBytes = 3;

/** Returns whether the TLVs fill the head, and its checksum is right where it has one. */
function areTlvs(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; ) {
    if (at + tlvHeadBytes > end) return false;
    const valueAt = at + tlvHeadBytes;
    const valueEnd = valueAt + bytes.readUInt16BE(at + 1);
    if (valueEnd > end) return false;
    if (bytes[at] === tlv.crc32c && !isChecksum(bytes.subarray(0, end), valueAt, valueEnd)) return false;
    at = valueEnd;
  }
  return true;
}

function isChecksum(head: Buffer, at: number, end: number): boolean {
  if (end - at !== 4) return false;
  const zeroed = Buffer.from(head);
  zeroed.fill(0, at, end);
  return head.readUInt32BE(at) === crc32c(zeroed) >>> 0;
}

/** Properties of TLS for the TLVs of version 2. Empty texts have none. */
export interface ProxiedTls {
  /** Server name that the client asked for. */
  readonly serverName: string;
  /** Protocol chosen by ALPN. */
  readonly protocol: string;
  /** Version of ended TLS, as `TLSv1.3`; empty: it was not ended here. */
  readonly version: string;
  /** Common name of the verified client certificate; undefined: the client showed none. */
  readonly commonName: string | undefined;
}

/** Returns the head for a connection. `places` undefined: one of Sluice's own, LOCAL or UNKNOWN. */
export function proxyHeader(
  version: 'v1' | 'v2',
  places: ProxiedPlaces | undefined,
  tls: ProxiedTls | undefined,
): Buffer {
  return version === 'v1' ? textHeader(places) : binaryHeader(places, tls);
}

function textHeader(places: ProxiedPlaces | undefined): Buffer {
  if (places === undefined) return Buffer.from('PROXY UNKNOWN\r\n');
  const { source, destination } = places;
  const kind = isIPv6(source.address) ? 'TCP6' : 'TCP4';
  return Buffer.from(
    `PROXY ${kind} ${source.address} ${destination.address} ${source.port} ${destination.port}\r\n`,
    'latin1',
  );
}

function binaryHeader(places: ProxiedPlaces | undefined, tls: ProxiedTls | undefined): Buffer {
  if (places === undefined) return Buffer.concat([v2Signature, Buffer.of(command.local, 0, 0, 0)]);
  const { source, destination } = places;
  const isWide = isIPv6(source.address);
  const addresses = Buffer.alloc(isWide ? addressBytes.tcp6 : addressBytes.tcp4);
  const width = isWide ? 16 : 4;
  ipBytes(source.address).copy(addresses, 0);
  ipBytes(destination.address).copy(addresses, width);
  addresses.writeUInt16BE(source.port, 2 * width);
  addresses.writeUInt16BE(destination.port, 2 * width + 2);
  const rest = Buffer.concat([addresses, tls === undefined ? Buffer.alloc(0) : tlvsOf(tls)]);
  const head = Buffer.of(command.proxy, isWide ? family.tcp6 : family.tcp4, rest.length >> 8, rest.length & 255);
  return Buffer.concat([v2Signature, head, rest]);
}

const sslClient = { ssl: 1, certConn: 2, certSess: 4 } as const;
const sslTlv = { version: 0x21, commonName: 0x22 } as const;

function tlvsOf({ serverName, protocol, version, commonName }: ProxiedTls): Buffer {
  const parts: Buffer[] = [];
  if (protocol !== '') parts.push(tlvOf(tlv.alpn, Buffer.from(protocol, 'latin1')));
  if (serverName !== '') parts.push(tlvOf(tlv.authority, Buffer.from(serverName, 'latin1')));
  if (version !== '') {
    const shown = commonName === undefined ? 0 : sslClient.certConn | sslClient.certSess;
    const inner = [tlvOf(sslTlv.version, Buffer.from(version, 'latin1'))];
    if (commonName !== undefined && commonName !== '') inner.push(tlvOf(sslTlv.commonName, Buffer.from(commonName)));
    // `verify` is 0: a certificate that was shown has been verified.
    parts.push(tlvOf(tlv.ssl, Buffer.concat([Buffer.of(sslClient.ssl | shown, 0, 0, 0, 0), ...inner])));
  }
  return Buffer.concat(parts);
}

const tlvOf = (type: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.of(type, value.length >> 8, value.length & 255), value]);
