// Private addresses, which only machines of the same network can have: the condition for a connection to raft's port
// and to the relay's when members have no better proof. Link-local addresses are not among them: any neighbour on a
// wire has one.
import { BlockList } from 'node:net';

const privateAddresses = new BlockList();
privateAddresses.addSubnet('127.0.0.0', 8, 'ipv4');
privateAddresses.addSubnet('10.0.0.0', 8, 'ipv4');
privateAddresses.addSubnet('172.16.0.0', 12, 'ipv4');
privateAddresses.addSubnet('192.168.0.0', 16, 'ipv4');
privateAddresses.addAddress('::1', 'ipv6');
privateAddresses.addSubnet('fc00::', 7, 'ipv6');

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Returns whether the address of a socket is loopback or private; IPv4 written as IPv6 counts as the IPv4 that it is.
 */
export function isPrivateAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = mapped.exec(address)?.[1] ?? address;
  return privateAddresses.check(plain, plain.includes(':') ? 'ipv6' : 'ipv4');
}
