// Keys ready for handshakes. A context of OpenSSL's is large beside the certificate in it, so only those used lately
// are kept; the one used longest ago is filled anew when another certificate is wanted. Connections keep their own
// hold on what they were given.
import type { SecureContext } from 'node:tls';
import { type Certificate, load, newContext } from './certificate.ts';

/** About 36 KiB each, */
const keptMax = 128;
/** and as much again for every few certificates that it trusts, which OpenSSL takes from here too. */
const keptTrustingMax = 16;

export class Contexts {
  /** The one used last comes last. */
  readonly #kept = new Map<Certificate, SecureContext>();
  readonly #trusted: string | undefined;
  readonly #max: number;

  /** `trusted` are the authorities of client certificates as PEM text. */
  constructor(trusted: string | undefined, max = trusted === undefined ? keptMax : keptTrustingMax) {
    this.#trusted = trusted;
    this.#max = max;
  }

  of(certificate: Certificate): SecureContext {
    const known = this.#kept.get(certificate);
    if (known !== undefined) {
      if (this.#kept.size > 1) {
        this.#kept.delete(certificate);
        this.#kept.set(certificate, known);
      }
      return known;
    }
    const context = this.#spare() ?? newContext(this.#trusted);
    load(context, certificate);
    this.#kept.set(certificate, context);
    return context;
  }

  #spare(): SecureContext | undefined {
    if (this.#kept.size < this.#max) return undefined;
    for (const [certificate, context] of this.#kept) {
      this.#kept.delete(certificate);
      return context;
    }
    return undefined;
  }
}
