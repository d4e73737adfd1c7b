// `[host]:port` of the settings file.
import type { Section } from './section.ts';

/** Where to listen or to connect. An empty host means all interfaces. */
export interface Address {
  readonly host: string;
  /** 0…65535; 0 asks the system for a free one. */
  readonly port: number;
}

/** Of a name in DNS, with a point at its end. */
const hostLengthMax = 254;

/** `:8080`, `127.0.0.1:8080`, `[::1]:8080`, `name:8080`; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const host = bracketed ?? plain ?? '';
  if (digits === undefined || port > 65_535 || host.length > hostLengthMax) return undefined;
  return { host, port };
}

export const formatAddress = ({ host, port }: Address): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Whether one can connect to it: to listen, no host and the two unspecified ones mean every interface. */
export const namesHost = ({ host }: Address): boolean => host !== '' && host !== '0.0.0.0' && host !== '::';

export function readAddress(section: Section, key: string): Address | undefined {
  const text = section.text(key);
  if (text === undefined) return undefined;
  return parseAddress(text) ?? section.error(key, 'must be [host]:port, for example :8080 or 127.0.0.1:8080');
}
