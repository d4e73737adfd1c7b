// Host names and addresses as resources spell them (contract.md §0.3): checked here, brackets put on and off here.
import { isIPv4, isIPv6 } from 'node:net';

export interface Authority {
  /** Without brackets. */
  readonly host: string;
  readonly port?: number;
}

// Underscores are no host name by RFC 952, but internal DNS is full of them.
const label = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
const nameLengthMax = 253;

/** The host without brackets, or undefined when it is no DNS name, IPv4 address or IPv6 address. */
export const parseHost = (text: string): string | undefined => {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (isIPv6(bare)) return bare;
  return bare === text && (isIPv4(text) || isDnsName(text)) ? text : undefined;
};

/** `host` or `host:port`; an IPv6 address with a port needs its brackets. */
export const parseAuthority = (text: string): Authority | undefined => {
  const alone = parseHost(text);
  if (alone !== undefined) return { host: alone };
  const colon = text.lastIndexOf(':');
  const written = text.slice(0, Math.max(colon, 0));
  const host = written.includes(':') && !written.startsWith('[') ? undefined : parseHost(written);
  const port = parsePort(text.slice(colon + 1));
  return host === undefined || port === undefined ? undefined : { host, port };
};

/** `host:port` with an IPv6 address in brackets: labels, endpoint identities, URLs. */
export const authorityOf = (host: string, port: number): string => {
  const bare = parseHost(host) ?? host;
  return isIPv6(bare) ? `[${bare}]:${port}` : `${bare}:${port}`;
};

/** A matcher for hosts (contract.md §6.3): a host, `*` for any, `*.suffix` for one or more labels before it. */
export const isHostPattern = (text: string): boolean =>
  text === '*' || parseHost(text) !== undefined || (text.startsWith('*.') && isDnsName(text.slice(2)));

/** A server name of TLS, `*.suffix` for one label before the suffix, or `**.suffix` for one or more. */
export const isServerName = (text: string): boolean => isDnsName(text.replace(/^\*{1,2}\./, ''));

const isDnsName = (text: string): boolean => {
  if (text.length > nameLengthMax + 1) return false;
  const labels = (text.endsWith('.') ? text.slice(0, -1) : text).split('.');
  // A name whose last label is a number is read as an IPv4 address by every resolver; 999.1.1.1 is not one.
  return labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '');
};

const parsePort = (text: string): number | undefined => {
  if (!/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65535 ? port : undefined;
};
