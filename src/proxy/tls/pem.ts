// PEM text as users bring it: how many certificates it holds, and whether they are any. OpenSSL stops silently at what
// it cannot read, so what is given to it is looked through before.
import { X509Certificate } from 'node:crypto';

/** For people; never part of the text, which may be a secret. */
export class MaterialProblem extends Error {}

const block = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** All certificates of the text, in order. Throws MaterialProblem when there is none, or one cannot be read. */
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

/** What OpenSSL says about material, without the parts that only its authors understand. */
export function reasonOf(error: unknown): string {
  const { reason, message } = error instanceof Error ? (error as Error & { reason?: string }) : {};
  return (reason ?? message ?? String(error)).replace(/^error:[0-9A-F]*:[^:]*:[^:]*:/i, '');
}
