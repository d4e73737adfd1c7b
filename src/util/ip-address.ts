// Spellings and bytes of an address of IP.
import { SocketAddress } from 'node:net';

/**
 * Returns IPv6 in the form of RFC 5952, as sockets report it: a proxy may write `2001:DB8:0:0:0:0:0:7`, and rules and
 * buckets know one client.
 */
export const shortest = (address: string): string =>
  address.includes(':') ? new SocketAddress({ address, family: 'ipv6' }).address : address;

/** Returns, in network order, the 4 bytes of an IPv4 address, or the 16 of an IPv6 address without brackets. */
export function ipBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = shortest(address).split('::');
  const first = groupsOf(head);
  const last = tail === undefined ? [] : groupsOf(tail);
  const zeros = tail === undefined ? [] : new Array<number>(8 - first.length - last.length).fill(0);
  return Buffer.from([...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 255]));
}

/** Returns the 16-bit groups of a part of an IPv6 address; a dotted end is two of them. */
const groupsOf = (text: string): number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((group) => {
        if (!group.includes('.')) return [Number.parseInt(group, 16)];
        const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
        return [a * 256 + b, c * 256 + d];
      });
