// Client address of a request (architecture.md §6.9): the rightmost address that is not one of the trusted proxies. A
// client can write any address into X-Forwarded-For, but not to the right of the one that a trusted proxy appended.
import { BlockList, isIP } from 'node:net';
import { shortest } from '../../util/ip-address.ts';

export interface ClientAddress {
  /** Remote address of the socket. */
  readonly peerIp: string;
  readonly clientIp: string;
  /** True when the peer is a trusted proxy and its forwarding fields count. */
  readonly peerTrusted: boolean;
}

export class TrustedProxies {
  readonly #blocks = new BlockList();
  readonly #none: boolean;

  /** Takes addresses and CIDR blocks; any other text trusts no address. */
  constructor(list: readonly string[]) {
    this.#none = list.length === 0;
    for (const item of list) this.#add(item);
  }

  /** `forwardedFor` is the text of all X-Forwarded-For lines, joined by commas in order. */
  locate(peer: string, forwardedFor: string | undefined): ClientAddress {
    const peerIp = plainIp(peer);
    if (this.#none || !this.has(peerIp)) return { peerIp, clientIp: peerIp, peerTrusted: false };
    let clientIp = peerIp;
    for (const hop of fromTheRight(forwardedFor ?? '')) {
      const address = plainIp(withoutPort(hop));
      if (isIP(address) === 0) break;
      clientIp = shortest(address);
      if (!this.has(address)) break;
    }
    return { peerIp, clientIp, peerTrusted: true };
  }

  /** @param address without port and brackets */
  has(address: string): boolean {
    return this.#blocks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }

  #add(item: string): void {
    const [text = '', bits] = item.split('/');
    const address = plainIp(text);
    const family = isIP(address);
    const width = family === 6 ? 128 : 32;
    const length = bits === undefined ? width : Number(bits) - (address === text ? 0 : 96);
    if (family === 0 || !Number.isInteger(length) || length < 0 || length > width) return;
    this.#blocks.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
  }
}

/** Yields the elements of a list, the last one first: of a long one few are looked at. */
function* fromTheRight(list: string): Generator<string> {
  for (let end = list.length; end > 0; ) {
    const comma = list.lastIndexOf(',', end - 1);
    const element = list.slice(comma + 1, end).trim();
    end = comma;
    if (element !== '') yield element;
  }
}

/** Removes the port that some proxies append to their client's address: `192.0.2.1:4711`, `[2001:db8::7]:4711`. */
const withoutPort = (hop: string): string => /^(\[[^\]]*\]|[\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;

/**
 * Returns the plain address: `::ffff:10.0.0.1` and `::ffff:a00:1` are `10.0.0.1`; brackets and a zone are left out.
 */
export function plainIp(address: string): string {
  if (!address.includes(':')) return address;
  const bare = address.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const [, dotted, high, low] = mapped.exec(bare) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return bare;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

/** IPv4 within IPv6, in both spellings of its last 32 bits. */
const mapped = /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;
