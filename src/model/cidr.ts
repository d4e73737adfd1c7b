// Address ranges as `trustedProxies` spells them: `10.0.0.0/8`, `fd00::/8`, or one bare address.
import { isIP } from 'node:net';

export interface Cidr {
  readonly address: string;
  /** Leading bits that count: 0…32 for IPv4, 0…128 for IPv6. A bare address counts whole. */
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Undefined when the text is neither an address nor `address/bits`. Zone ids are refused: a range has none. */
export const parseCidr = (text: string): Cidr | undefined => {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return undefined;
  const bitsMax = version === 4 ? 32 : 128;
  const suffix = slash < 0 ? String(bitsMax) : text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(suffix) || Number(suffix) > bitsMax) return undefined;
  return { address, bits: Number(suffix), family: version === 4 ? 'ipv4' : 'ipv6' };
};
