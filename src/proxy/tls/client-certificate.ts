// Verified certificate of a client: its view for expressions (contract.md §6.6), and the field for upstreams (§7.1).
// Parsed on first use.
import type { X509Certificate } from 'node:crypto';
import type { RequestTls } from '../../expression/cel/value-view.ts';
import type { ClientCertificate } from '../socket/security.ts';
import { type AlternativeNames, alternativeNames } from './alternative-names.ts';

export class PeerCertificate implements ClientCertificate {
  readonly trustedBy: string;
  readonly #x509: X509Certificate;
  #names: AlternativeNames | undefined;
  #facts: RequestTls | undefined;
  #forwarded: string | undefined;

  constructor(x509: X509Certificate, trustedBy: string) {
    this.trustedBy = trustedBy;
    this.#x509 = x509;
  }

  get facts(): RequestTls {
    const { uris, dnsNames } = this.#read();
    this.#facts ??= {
      peerCertificate: { uris, dnsNames, subject: subjectOf(this.#x509), serial: serialOf(this.#x509) },
    };
    return this.#facts;
  }

  get forwarded(): string {
    this.#forwarded ??= this.#read().uris.map(asFieldValue).join(';');
    return this.#forwarded;
  }

  #read(): AlternativeNames {
    this.#names ??= alternativeNames(this.#x509);
    return this.#names;
  }
}

/** Attributes in output order, each with Node's name for it. */
const attributes = [
  ['SERIALNUMBER', 'serialNumber'],
  ['CN', 'CN'],
  ['POSTALCODE', 'postalCode'],
  ['STREET', 'street'],
  ['ST', 'ST'],
  ['L', 'L'],
  ['OU', 'OU'],
  ['O', 'O'],
  ['C', 'C'],
] as const;

/**
 * Returns the subject in the form of RFC 2253: `CN=agent-a,O=myorg`; several values of one attribute are one set,
 * `OU=a+OU=b`. Other attributes are left out.
 */
function subjectOf(x509: X509Certificate): string {
  const subject: Readonly<Record<string, string | readonly string[] | undefined>> = {
    ...(x509.toLegacyObject().subject as unknown as Record<string, string | string[]>),
  };
  return attributes
    .flatMap(([name, key]) => {
      const values = [subject[key] ?? []].flat();
      return values.length === 0 ? [] : [values.map((value) => `${name}=${escaped(value)}`).join('+')];
    })
    .join(',');
}

/** Escapes a value (RFC 2253 §2.4). */
const escaped = (value: string): string => value.replace(/[,+"\\<>;]|^[ #]| $/g, '\\$&').replaceAll('\0', '\\00');

const serialOf = ({ serialNumber }: X509Certificate): string => serialNumber.toLowerCase().replace(/^0+(?=.)/, '');

/** Encodes a name so that it can neither end the field nor be read as two. */
const asFieldValue = (uri: string): string =>
  [...Buffer.from(uri)]
    .map((byte) =>
      byte > 0x20 && byte < 0x7f && byte !== 0x3b
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
