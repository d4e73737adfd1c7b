// Addresses and ranges of addresses as values of expressions, with the semantics of Kubernetes' CEL library: no zones, no
// IPv4 within IPv6, no leading zeros (https://kubernetes.io/docs/reference/using-api/cel, IP and CIDR).
import { isIPv4, isIPv6 } from 'node:net';

/** Longest text of an address, and of a range. */
const addressMax = 45;
const rangeMax = addressMax + 4;

export class IpAddress {
  readonly family: 4 | 6;
  /** 32 bits each, the leading ones first: one of IPv4, four of IPv6. */
  readonly words: readonly number[];

  constructor(family: 4 | 6, words: readonly number[]) {
    this.family = family;
    this.words = words;
  }

  get bits(): number {
    return this.family === 4 ? 32 : 128;
  }

  /** Returns whether the leading bits are those of `other`. */
  agrees({ family, words }: IpAddress, bits: number): boolean {
    if (family !== this.family) return false;
    for (let at = 0; 32 * at < bits; at++) {
      const differing = ((this.words[at] ?? 0) ^ (words[at] ?? 0)) >>> 0;
      const rest = bits - 32 * at;
      if (rest >= 32 ? differing !== 0 : differing >>> (32 - rest) !== 0) return false;
    }
    return true;
  }

  equals(other: IpAddress): boolean {
    return this.agrees(other, this.bits);
  }

  /** Canonical text (RFC 5952). */
  toString(): string {
    if (this.family === 4) {
      const [word = 0] = this.words;
      return [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255].join('.');
    }
    const groups = this.words.flatMap((word) => [(word >>> 16).toString(16), (word & 0xffff).toString(16)]);
    return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
  }
}

export class IpRange {
  /** As it was written, with the bits behind the prefix. */
  readonly address: IpAddress;
  readonly bits: number;

  constructor(address: IpAddress, bits: number) {
    this.address = address;
    this.bits = bits;
  }

  contains(address: IpAddress): boolean {
    return this.address.agrees(address, this.bits);
  }

  covers({ address, bits }: IpRange): boolean {
    return bits >= this.bits && this.contains(address);
  }

  equals({ address, bits }: IpRange): boolean {
    return bits === this.bits && this.address.equals(address);
  }

  /** Returns the range with zeros behind its prefix. */
  masked(): IpRange {
    const { family, words } = this.address;
    const kept = words.map((word, at) => {
      const rest = this.bits - 32 * at;
      return rest <= 0 ? 0 : rest >= 32 ? word : (word & (-1 << (32 - rest))) >>> 0;
    });
    return new IpRange(new IpAddress(family, kept), this.bits);
  }

  toString(): string {
    return `${this.address}/${this.bits}`;
  }
}

/** Returns undefined for a text that is no address. */
export function parseIp(text: string): IpAddress | undefined {
  if (text.length > addressMax) return undefined;
  if (isIPv4(text)) return new IpAddress(4, [ipv4Word(text)]);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const words = ipv6Words(text);
  const isMapped = words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
  return isMapped ? undefined : new IpAddress(6, words);
}

/** Returns undefined for a text that is no `address/bits`. */
export function parseRange(text: string): IpRange | undefined {
  if (text.length > rangeMax) return undefined;
  const slash = text.indexOf('/');
  const address = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const suffix = text.slice(slash + 1);
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(suffix)) return undefined;
  const bits = Number(suffix);
  return bits > address.bits ? undefined : new IpRange(address, bits);
}

function ipv4Word(text: string): number {
  let word = 0;
  for (const part of text.split('.')) word = word * 256 + Number(part);
  return word;
}

function ipv6Words(text: string): number[] {
  const [head = '', tail] = text.split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const groups = [...before, ...Array(8 - before.length - after.length).fill(0), ...after];
  return [0, 2, 4, 6].map((at) => (groups[at] ?? 0) * 65_536 + (groups[at + 1] ?? 0));
}

/** Numbers of 16 bits; the last part may be an IPv4 address. */
const groupsOf = (text: string): number[] =>
  text === ''
    ? []
    : text.split(':').flatMap((part) => {
        if (!part.includes('.')) return [Number.parseInt(part, 16)];
        const word = ipv4Word(part);
        return [Math.floor(word / 65_536), word % 65_536];
      });
