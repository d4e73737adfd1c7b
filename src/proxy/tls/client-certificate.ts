// The verified certificate of a client: what expressions see of it (contract.md §6.6), and what upstreams are told
// (§7.1). Read when somebody asks.
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

/** In this order, each with the name by which Node knows it. */
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

/** RFC 2253: `CN=agent-a,O=myorg`; several values of one attribute are one set, `OU=a+OU=b`. Other attributes are left out. */
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

/** RFC 2253 §2.4. */
const escaped = (value: string): string => value.replace(/[,+"\\<>;]|^[ #]| $/g, '\\$&').replaceAll('\0', '\\00');

const serialOf = ({ serialNumber }: X509Certificate): string => serialNumber.toLowerCase().replace(/^0+(?=.)/, '');

/** A name can neither end the field nor be taken for two. */
const asFieldValue = (uri: string): string =>
  [...Buffer.from(uri)]
    .map((byte) =>
      byte > 0x20 && byte < 0x7f && byte !== 0x3b
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
