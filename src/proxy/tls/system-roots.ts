// Trusted authorities of the system (contract.md §2.3.7), for destinations that name none. Node has a list of its own
// and can read the system's, but blocks the thread for a tenth of a second; the same list is one file.
import { readFile } from 'node:fs/promises';
import { setDefaultCACertificates } from 'node:tls';
import type { Destination } from '../../model/destination.ts';

/** Places of the file in common systems; the first readable one counts, as elsewhere. */
const places = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

export const needsSystemRoots = ({ options }: Destination): boolean =>
  (options?.tls?.mode ?? 'none') !== 'none' && options?.tls?.ca === undefined;

let ready: Promise<boolean> | undefined;
let trusting = false;

/**
 * Reads the list, once per thread. From then on contexts without authorities of their own trust these; where there is
 * no list, Node's own.
 */
export function loadSystemRoots(file = process.env.SSL_CERT_FILE): Promise<boolean> {
  ready ??= useFirst(file === undefined || file === '' ? places : [file]);
  return ready;
}

/** Returns whether new contexts without authorities of their own trust those of the system. */
export const trustsSystem = (): boolean => trusting;

async function useFirst(files: readonly string[]): Promise<boolean> {
  for (const file of files) {
    const text = await readFile(file, 'latin1').catch(() => '');
    const roots = new Set(text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g));
    if (roots.size === 0) continue;
    try {
      setDefaultCACertificates([...roots]);
      trusting = true;
      return true;
    } catch {
      // A list that OpenSSL cannot read counts as none.
    }
  }
  return false;
}
