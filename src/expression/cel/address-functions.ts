// Functions of expressions over addresses and ranges (contract.md §6.6). One table declares them: for the checker, for the
// evaluator and for the library.
import { IpAddress, IpRange, parseIp, parseRange } from './addresses.ts';
import { Failure, type Value } from './values.ts';

const noIp = new Failure('is no IP address');
const noRange = new Failure('is no range of addresses');

type OnIp = (ip: IpAddress) => Value;
type OnRange = (range: IpRange, other: Value) => Value;

const ipOf = (value: Value): IpAddress | undefined =>
  value instanceof IpAddress ? value : typeof value === 'string' ? parseIp(value) : undefined;

const rangeOf = (value: Value): IpRange | undefined =>
  value instanceof IpRange ? value : typeof value === 'string' ? parseRange(value) : undefined;

/** Returns undefined, which is no case for the function, where the receiver is something else. */
const ofIp =
  (run: OnIp) =>
  (value: Value): Value =>
    value instanceof IpAddress ? run(value) : undefined;

const ofRange =
  (run: OnRange) =>
  (value: Value, other: Value): Value =>
    value instanceof IpRange ? run(value, other) : undefined;

const within = (...texts: readonly string[]): OnIp => {
  const ranges = texts.map((text) => parseRange(text) as IpRange);
  return (ip) => ranges.some((range) => range.contains(ip));
};

/** RFC 1918 and RFC 4193. */
const isPrivate = within('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7');
const isUnspecified = within('0.0.0.0/32', '::/128');
const isLoopback = within('127.0.0.0/8', '::1/128');
const isLinkLocalUnicast = within('169.254.0.0/16', 'fe80::/10');
const isLinkLocalMulticast = within('224.0.0.0/24', 'ff02::/16');
const isMulticast = within('224.0.0.0/4', 'ff00::/8');
const isBroadcast = within('255.255.255.255/32');
const isGlobalUnicast: OnIp = (ip) =>
  ![isUnspecified, isLoopback, isLinkLocalUnicast, isMulticast, isBroadcast].some((is) => is(ip));

interface AddressFunction {
  /** As the library reads it; several overloads have one implementation. */
  readonly signatures: readonly string[];
  readonly run: (a: Value, b: Value) => Value;
}

/** By name and number of arguments: `ip/1`. */
export const addressFunctions: Readonly<Record<string, AddressFunction>> = {
  'ip/1': {
    signatures: ['ip(string): net.IP'],
    run: (text) => (typeof text === 'string' ? (parseIp(text) ?? noIp) : undefined),
  },
  'cidr/1': {
    signatures: ['cidr(string): net.CIDR'],
    run: (text) => (typeof text === 'string' ? (parseRange(text) ?? noRange) : undefined),
  },
  'isIP/1': {
    signatures: ['isIP(string): bool'],
    run: (text) => (typeof text === 'string' ? parseIp(text) !== undefined : undefined),
  },
  'isCIDR/1': {
    signatures: ['isCIDR(string): bool'],
    run: (text) => (typeof text === 'string' ? parseRange(text) !== undefined : undefined),
  },
  'string/1': {
    signatures: ['string(net.IP): string', 'string(net.CIDR): string'],
    run: (value) => (value instanceof IpAddress || value instanceof IpRange ? value.toString() : undefined),
  },
};

/** The receiver is the first argument. */
export const addressMethods: Readonly<Record<string, AddressFunction>> = {
  'family/0': { signatures: ['net.IP.family(): int'], run: ofIp(({ family }) => BigInt(family)) },
  'isPrivate/0': { signatures: ['net.IP.isPrivate(): bool'], run: ofIp(isPrivate) },
  'isUnspecified/0': { signatures: ['net.IP.isUnspecified(): bool'], run: ofIp(isUnspecified) },
  'isLoopback/0': { signatures: ['net.IP.isLoopback(): bool'], run: ofIp(isLoopback) },
  'isLinkLocalUnicast/0': { signatures: ['net.IP.isLinkLocalUnicast(): bool'], run: ofIp(isLinkLocalUnicast) },
  'isLinkLocalMulticast/0': { signatures: ['net.IP.isLinkLocalMulticast(): bool'], run: ofIp(isLinkLocalMulticast) },
  'isGlobalUnicast/0': { signatures: ['net.IP.isGlobalUnicast(): bool'], run: ofIp(isGlobalUnicast) },
  'ip/0': { signatures: ['net.CIDR.ip(): net.IP'], run: ofRange(({ address }) => address) },
  'masked/0': { signatures: ['net.CIDR.masked(): net.CIDR'], run: ofRange((range) => range.masked()) },
  'prefixLength/0': { signatures: ['net.CIDR.prefixLength(): int'], run: ofRange(({ bits }) => BigInt(bits)) },
  'containsIP/1': {
    signatures: ['net.CIDR.containsIP(string): bool', 'net.CIDR.containsIP(net.IP): bool'],
    run: ofRange((range, value) => {
      const ip = ipOf(value);
      return ip === undefined ? noIp : range.contains(ip);
    }),
  },
  'containsCIDR/1': {
    signatures: ['net.CIDR.containsCIDR(string): bool', 'net.CIDR.containsCIDR(net.CIDR): bool'],
    run: ofRange((range, value) => {
      const other = rangeOf(value);
      return other === undefined ? noRange : range.covers(other);
    }),
  },
};

/** Equality of an address or a range with a value; undefined where the value is neither. */
export function sameAddress(left: Value, right: Value): boolean | undefined {
  if (left instanceof IpAddress) return right instanceof IpAddress && left.equals(right);
  if (left instanceof IpRange) return right instanceof IpRange && left.equals(right);
  return undefined;
}

/** Returns the problem of a constant argument, `must be …`; undefined when there is none. */
export function problemOfConstant(name: string, text: string): string | undefined {
  if (name === 'ip' || name === 'containsIP') return parseIp(text) === undefined ? 'must be an IP address' : undefined;
  if (name !== 'cidr' && name !== 'containsCIDR') return undefined;
  return parseRange(text) === undefined ? 'must be a range such as 10.0.0.0/8' : undefined;
}
