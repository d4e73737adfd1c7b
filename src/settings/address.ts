// `[host]:port` of the settings file.
import type { Key } from './key.ts';
import type { Section } from './section.ts';

/** Address to listen on or to connect to. An empty host means all interfaces. */
export interface Address {
  readonly host: string;
  /** 0…65535; 0 asks the system for a free one. */
  readonly port: number;
}

/** Longest name of DNS in bytes, with a trailing dot. */
const hostLengthMax = 254;

/** Parses `:8080`, `127.0.0.1:8080`, `[::1]:8080`, `name:8080`; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const host = bracketed ?? plain ?? '';
  if (digits === undefined || port > 65_535 || host.length > hostLengthMax) return undefined;
  return { host, port };
}

export const formatAddress = ({ host, port }: Address): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Returns whether a client can connect to it: no host and the two unspecified addresses are for listening alone. */
export const namesHost = ({ host }: Address): boolean => host !== '' && host !== '0.0.0.0' && host !== '::';

function readAddress(section: Section, name: string): Address | undefined {
  const text = section.text(name);
  if (text === undefined) return undefined;
  return parseAddress(text) ?? section.error(name, 'must be [host]:port, for example :8080 or 127.0.0.1:8080');
}

/** Address in place of a wrong one, whose error is recorded. */
export const unknownAddress: Address = { host: '', port: 0 };

/** Optional address. */
export const addressKey = (
  meaning: string,
  options: { readonly usual?: string } = {},
): Key<Address | undefined, ''> => ({
  type: '`[host]:port`',
  ...options,
  meaning,
  unit: '',
  read: readAddress,
});

export const requiredAddressKey = (meaning: string): Key<Address, ''> => ({
  ...addressKey(meaning, { usual: 'required' }),
  read(section, name) {
    if (!section.has(name)) section.error(name, 'is required');
    return readAddress(section, name) ?? unknownAddress;
  },
});

export const addressKeyOr = (otherwise: string, meaning: string): Key<Address, ''> => ({
  ...addressKey(meaning, { usual: `\`${otherwise}\`` }),
  read: (section, name) => readAddress(section, name) ?? parseAddress(otherwise) ?? unknownAddress,
});

/** Address, or `none` for none. `isConfigured`: the settings name it, so that the operator relies on it. */
export const addressOrNoneKey = (
  otherwise: string,
  meaning: string,
): Key<{ readonly address: Address | undefined; readonly isConfigured: boolean }, ''> => {
  const key = addressKeyOr(otherwise, meaning);
  return {
    ...key,
    type: '`[host]:port`, `none`',
    read: (section, name) => ({
      isConfigured: section.has(name),
      address: section.text(name) === 'none' ? undefined : key.read(section, name),
    }),
  };
};
