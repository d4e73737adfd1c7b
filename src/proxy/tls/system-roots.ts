// The authorities that the system trusts (contract.md §2.3.7), where a destination names none of its own. Node brings
// a list with itself and can ask the system, but holds the thread for a tenth of a second; the same list is one file.
import { readFile } from 'node:fs/promises';
import { setDefaultCACertificates } from 'node:tls';
import type { Destination } from '../../model/destination.ts';

/** Where systems keep it; the first that can be read counts, as elsewhere. */
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

/** Once per thread. From then on contexts without authorities of their own trust these; without any, Node's own list. */
export function readySystemRoots(file = process.env.SSL_CERT_FILE): Promise<boolean> {
  ready ??= useFirst(file === undefined || file === '' ? places : [file]);
  return ready;
}

/** Whether contexts without authorities of their own, made now, trust whom the system trusts. */
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
      // A list that OpenSSL cannot read is none.
    }
  }
  return false;
}
