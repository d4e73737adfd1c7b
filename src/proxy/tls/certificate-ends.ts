// Ends of the certificates that listeners of the active configuration show, for metrics.
import { X509Certificate } from 'node:crypto';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { CertificateEnd } from '../../telemetry/surroundings-metrics.ts';

interface Shown extends Pick<CertificateEnd, 'listener' | 'certificate'> {
  /** PEM; the first certificate of a chain counts. */
  readonly pem: string;
}

export class CertificateEnds {
  readonly #own: readonly Shown[];
  #listeners: ProxyConfig['snapshot']['listeners'] = [];
  /** By PEM, of those shown last; undefined for what is no certificate. */
  #known = new Map<string, number | undefined>();

  /** @param own certificates of the process itself, by the key of the settings */
  constructor(own: Readonly<Record<string, string | Buffer | undefined>> = {}) {
    this.#own = Object.entries(own).flatMap(([certificate, pem]) =>
      pem === undefined ? [] : [{ listener: '', certificate, pem: String(pem) }],
    );
  }

  take({ snapshot }: ProxyConfig): void {
    this.#listeners = snapshot.listeners;
  }

  get all(): readonly CertificateEnd[] {
    const shown = [...this.#own, ...this.#listeners.flatMap(shownBy)];
    const before = this.#known;
    this.#known = new Map(shown.map(({ pem }) => [pem, before.has(pem) ? before.get(pem) : endOf(pem)]));
    return shown.flatMap(({ pem, ...place }) => {
      const endsS = this.#known.get(pem);
      return endsS === undefined ? [] : [{ ...place, endsS }];
    });
  }
}

function shownBy({ name, tls }: ProxyConfig['snapshot']['listeners'][number]): Shown[] {
  if (tls === undefined) return [];
  const more = (tls.certificates ?? []).map(({ cert }, at) => ({ certificate: `tls/certificates/${at}`, pem: cert }));
  return [{ certificate: 'tls', pem: tls.cert }, ...more].flatMap(({ certificate, pem }) =>
    pem === undefined ? [] : [{ listener: name, certificate, pem }],
  );
}

/** End in Unix seconds; undefined for unusable text, which `warnings` of the capture name. */
function endOf(pem: string): number | undefined {
  try {
    return new X509Certificate(pem).validToDate.getTime() / 1_000;
  } catch {
    return undefined;
  }
}
