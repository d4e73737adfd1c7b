// PEM text as users supply it: the number of its certificates, and their validity. OpenSSL stops silently at an
// unreadable part, so the text is checked before OpenSSL gets it.
import { X509Certificate } from 'node:crypto';

/** Message for users; never part of the text, which may be a secret. */
export class MaterialProblem extends Error {}

const block = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/**
 * Returns all certificates of the text, in order. Throws MaterialProblem when there is none, or one cannot be read.
 */
export function readCertificates(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(block) ?? [];
  if (blocks.length === 0 || blocks.length !== pem.split(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/).length - 1)
    throw new MaterialProblem('is not a certificate in PEM form');
  return blocks.map((text, at) => {
    try {
      return new X509Certificate(text);
    } catch {
      throw new MaterialProblem(blocks.length === 1 ? 'cannot be read' : `cannot be read: certificate ${at + 1} of it`);
    }
  });
}

/** Returns OpenSSL's reason, without its internal codes. */
export function reasonOf(error: unknown): string {
  const { reason, message } = error instanceof Error ? (error as Error & { reason?: string }) : {};
  return (reason ?? message ?? String(error)).replace(/^error:[0-9A-F]*:[^:]*:[^:]*:/i, '');
}
