// Whose request it is (architecture.md §6.9): the rightmost address that is not one of the listener's trusted proxies.
import { BlockList, isIP } from 'node:net';

export interface ClientAddress {
  /** The socket's other end. */
  readonly peerIp: string;
  readonly clientIp: string;
  /** The socket's peer itself is trusted, so what it forwards may be believed. */
  readonly trusted: boolean;
}

export interface TrustedProxies {
  /** `forwardedFor` is the text of every X-Forwarded-For line, joined by commas. */
  locate(peer: string, forwardedFor: string | undefined): ClientAddress;
}

/** Takes addresses and CIDR blocks; what is neither trusts nobody. */
export function trustedProxies(list: readonly string[]): TrustedProxies {
  const blocks = new BlockList();
  for (const item of list) addBlock(blocks, item);
  const isTrusted = (address: string): boolean => blocks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return {
    locate(peer, forwardedFor) {
      const socketIp = plainIp(peer);
      if (list.length === 0 || !isTrusted(socketIp)) return { peerIp: socketIp, clientIp: socketIp, trusted: false };
      let clientIp = socketIp;
      for (const hop of (forwardedFor ?? '').split(',').reverse()) {
        const address = plainIp(hop.trim());
        if (isIP(address) === 0) break;
        clientIp = address;
        if (!isTrusted(address)) break;
      }
      return { peerIp: socketIp, clientIp, trusted: true };
    },
  };
}

/** `::ffff:10.0.0.1` is `10.0.0.1`. */
export const plainIp = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
};

function addBlock(blocks: BlockList, item: string): void {
  const [address = '', bits] = item.split('/');
  const family = isIP(address);
  if (family === 0) return;
  const width = family === 6 ? 128 : 32;
  const length = bits === undefined ? width : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > width) return;
  blocks.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
}
