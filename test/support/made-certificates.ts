// Certificates made within a test, with the names, times and issuers that it needs: X.509 written down in DER.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface CertificateWish {
  /** Attributes in order: `CN`, `O`, `serialNumber` … Default: one CN, the first name. */
  readonly subject?: readonly (readonly [keyof typeof attributeOids, string])[];
  readonly dnsNames?: readonly string[];
  readonly uris?: readonly string[];
  readonly addresses?: readonly string[];
  /** Issuer. Default: self-signed. */
  readonly issuer?: MadeCertificate;
  readonly authority?: boolean;
  /** Hex. Default: random. */
  readonly serial?: string;
  /** Start of the validity. Default: an hour ago. */
  readonly from?: Date;
  /** End of the validity. Default: in 1000 days. */
  readonly until?: Date;
  readonly keyType?: 'ec' | 'rsa';
  /** Bits of an RSA key. Default: 2048. */
  readonly keyBits?: number;
}

export interface MadeCertificate {
  readonly cert: string;
  readonly key: string;
  readonly privateKey: KeyObject;
  /** Its name, in DER. */
  readonly name: Buffer;
}

export function makeCertificate(wish: CertificateWish = {}): MadeCertificate {
  const { dnsNames = [], uris = [], addresses = [], issuer, authority = false } = wish;
  const { publicKey, privateKey } =
    wish.keyType === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: wish.keyBits ?? 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = wish.subject ?? [['CN', dnsNames[0] ?? uris[0] ?? 'nameless'] as const];
  const name = sequence(
    ...subject.map(([type, value]) => set(sequence(oid(attributeOids[type]), tagged(0x0c, Buffer.from(value))))),
  );
  const signer = issuer?.privateKey ?? privateKey;
  const algorithm =
    signer.asymmetricKeyType === 'rsa' ? sequence(oid(sha256WithRsa), tagged(5)) : sequence(oid(ecdsaWithSha256));
  const names = [
    ...dnsNames.map((text) => tagged(0x82, Buffer.from(text))),
    ...uris.map((text) => tagged(0x86, Buffer.from(text))),
    ...addresses.map((text) => tagged(0x87, addressBytes(text))),
  ];
  const extensions = [
    ...(authority
      ? [sequence(oid(basicConstraints), tagged(1, Buffer.of(255)), octets(sequence(tagged(1, Buffer.of(255)))))]
      : []),
    ...(names.length > 0 ? [sequence(oid(subjectAltName), octets(sequence(...names)))] : []),
  ];
  const body = sequence(
    tagged(0xa0, integer('02')),
    integer(wish.serial ?? `4f${randomBytes(7).toString('hex')}`),
    algorithm,
    issuer?.name ?? name,
    sequence(
      time(wish.from ?? new Date(Date.now() - 3_600_000)),
      time(wish.until ?? new Date(Date.now() + 1000 * 86_400_000)),
    ),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [tagged(0xa3, sequence(...extensions))] : []),
  );
  const signature = tagged(3, Buffer.concat([Buffer.of(0), sign('sha256', body, signer)]));
  const der = sequence(body, algorithm, signature);
  const cert = `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n').trim()}\n-----END CERTIFICATE-----\n`;
  return { cert, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), privateKey, name };
}

const attributeOids = {
  CN: '2.5.4.3',
  serialNumber: '2.5.4.5',
  C: '2.5.4.6',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  street: '2.5.4.9',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  postalCode: '2.5.4.17',
  title: '2.5.4.12',
};
const ecdsaWithSha256 = '1.2.840.10045.4.3.2';
const sha256WithRsa = '1.2.840.113549.1.1.11';
const basicConstraints = '2.5.29.19';
const subjectAltName = '2.5.29.17';

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => tagged(0x31, ...parts);
const octets = (...parts: readonly Buffer[]): Buffer => tagged(4, ...parts);
const integer = (hex: string): Buffer => tagged(2, Buffer.from(hex, 'hex'));
const time = (date: Date): Buffer =>
  tagged(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-T:]/g, '')}Z`));

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 127];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 127) | 128);
    bytes.push(...groups);
  }
  return tagged(6, Buffer.from(bytes));
}

const addressBytes = (text: string): Buffer =>
  isIPv4(text) ? Buffer.from(text.split('.').map(Number)) : Buffer.from(expanded(text), 'hex');

function expanded(text: string): string {
  const [left = '', right = ''] = text.split('::');
  const parts = (half: string): string[] => (half === '' ? [] : half.split(':'));
  const [before, after] = [parts(left), parts(right)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('');
}
