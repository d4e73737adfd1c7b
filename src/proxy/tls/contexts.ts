// Cache of contexts with keys ready for handshakes. A context of OpenSSL's is large beside its certificate, so only
// recently used ones are kept; the least recently used is refilled when another certificate is needed. Connections
// keep their own reference to their keys.
import type { SecureContext } from 'node:tls';
import { type Certificate, load, newContext } from './certificate.ts';

/** Contexts of about 36 KiB each. */
const keptMax = 128;
/** Contexts that trust authorities: as much again for every few certificates, which OpenSSL keeps here too. */
const keptTrustingMax = 16;

export class Contexts {
  /** Most recently used last. */
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
