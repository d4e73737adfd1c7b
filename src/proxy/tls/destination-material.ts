// TLS material of a destination, made from its configuration when the first connection needs it: unusable text breaks
// this destination alone (contract.md §2.3.7, architecture.md §6.30).
import { createHash, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Destination } from '../../model/destination.ts';
import type { DestinationOptions } from '../../model/destination-options.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import type { SubjectAltName } from '../../model/subject-alt-name.ts';
import { alternativeNames } from './alternative-names.ts';
import { readCertificate } from './certificate.ts';
import { aboutTime } from './listener-material.ts';
import { MaterialProblem, readCertificates, reasonOf } from './pem.ts';
import { trustsSystem } from './system-roots.ts';
import { versionOptions } from './versions.ts';

export type DestinationTls = NonNullable<DestinationOptions['tls']>;

/** Returns undefined for a destination without TLS. */
export function tlsOf({ options }: Destination): DestinationTls | undefined {
  const tls = options?.tls;
  return tls === undefined || (tls.mode ?? 'none') === 'none' ? undefined : tls;
}

/**
 * Returns the name that the certificate must be valid for, without a trailing dot, which neither SNI nor certificates
 * have (RFC 6066 §3).
 */
export const verifiedName = ({ host }: Destination, { sni }: DestinationTls): string =>
  (sni ?? host).replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

/** Returns the name for SNI, which has no addresses. */
export const sentName = (name: string): string | undefined => (isIP(name) === 0 ? name : undefined);

/**
 * Returns whether the certificate is valid for the name, by its alternative names alone. A client may not trust the
 * subject (RFC 9110 §4.3.4): an authority that restricts names has not checked it.
 */
export const isFor = (certificate: X509Certificate, name: string): boolean =>
  (isIP(name) === 0 ? certificate.checkHost(name, strictly) : certificate.checkIP(name)) !== undefined;

/** Returns whether the certificate has one of the names. */
export function hasOneOf(certificate: X509Certificate, names: readonly SubjectAltName[]): boolean {
  const { dnsNames, uris } = alternativeNames(certificate);
  return names.some(({ type, value }) => {
    if (type === 'uri') return uris.includes(value);
    if (!value.startsWith('*.')) return isFor(certificate, value.replace(/\.$/, ''));
    return dnsNames.some((name) => name.toLowerCase() === value.toLowerCase());
  });
}

const strictly = { subject: 'never', partialWildcards: false } as const;

/** Contexts shared by destinations with the same material: a context takes tens of kilobytes. */
const contexts = new Map<string, WeakRef<SecureContext>>();

/** Throws MaterialProblem. */
export function contextOf({ mode, ca, cert, key, minVersion, maxVersion }: DestinationTls): SecureContext {
  const own = mode === 'mtls' ? { cert: cert ?? '', key: key ?? '' } : undefined;
  const text = JSON.stringify([ca ?? trustsSystem(), own, minVersion, maxVersion]);
  const hash = createHash('sha256').update(text).digest('base64');
  const known = contexts.get(hash)?.deref();
  if (known !== undefined) return known;
  if (ca !== undefined) readAuthorities(ca);
  if (own !== undefined) readCertificate(own);
  const made = make({ ...versionOptions({ minVersion, maxVersion }), ...(ca === undefined ? {} : { ca }), ...own });
  for (const [each, ref] of contexts) if (ref.deref() === undefined) contexts.delete(each);
  contexts.set(hash, new WeakRef(made));
  return made;
}

function make(options: Parameters<typeof createSecureContext>[0]): SecureContext {
  try {
    return createSecureContext(options);
  } catch (error) {
    throw new MaterialProblem(`cannot be used: ${reasonOf(error)}`);
  }
}

function readAuthorities(ca: string): void {
  try {
    readCertificates(ca);
  } catch (error) {
    throw error instanceof MaterialProblem ? new MaterialProblem(`its ca ${error.message}`) : error;
  }
}

/** Returns the problems of a destination's TLS, as a proxy would find them now. Pointers name entities by id. */
export function destinationProblems(destination: Destination, nowMs: number): Problem[] {
  const tls = tlsOf(destination);
  if (tls === undefined) return [];
  const pointer = pointerOf('destinations', destination.id, 'options', 'tls');
  try {
    if (tls.ca !== undefined || tls.mode === 'mtls') contextOf(tls);
    if (tls.mode !== 'mtls') return [];
    return aboutTime(readCertificate({ cert: tls.cert ?? '', key: tls.key ?? '' }), pointer, nowMs);
  } catch (error) {
    if (!(error instanceof MaterialProblem)) throw error;
    return [{ pointer, message: `${error.message}: requests are answered 502` }];
  }
}
