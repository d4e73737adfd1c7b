// Discovery of the addresses of other nodes. It gives addresses, never members: who belongs to the cluster stands in
// the log alone (raft.md A14 M8, A19).
import { isIPv6 } from 'node:net';

export interface Discovery {
  /**
   * Returns `host:port` of every node that can be found now, this one perhaps among them. Rejects when they cannot be
   * found out.
   */
  addresses(): Promise<readonly string[]>;
}

/** The part of `node:dns/promises` that is needed; c-ares, because a hanging `lookup` would hold up the disk. */
export interface Resolver {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
}

export function staticDiscovery(addresses: readonly string[]): Discovery {
  return { addresses: () => Promise.resolve(addresses) };
}

/** One node per A or AAAA record of `name`, all on the same port. */
export function dnsDiscovery(name: string, port: number, resolver: Resolver): Discovery {
  return {
    async addresses() {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
      const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      return [...new Set(found)].sort().map((ip) => (isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`));
    },
  };
}
