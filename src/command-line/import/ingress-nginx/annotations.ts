// Annotations of an Ingress, by name without their prefix. Reading one counts as taking it.
import type { Fields } from '../fields.ts';
import type { Ledger } from '../import-ledger.ts';
import type { Statement } from '../statement.ts';

const prefix = 'nginx.ingress.kubernetes.io/';

export class Annotations {
  readonly ledger: Ledger;
  readonly metadata: Statement;
  readonly #statements: ReadonlyMap<string, Statement>;

  constructor(metadata: Fields) {
    this.ledger = metadata.ledger;
    this.metadata = metadata.statement;
    const all = metadata.child('annotations')?.statement.children ?? [];
    this.#statements = new Map(
      all.flatMap((each) => (each.key.startsWith(prefix) ? [[each.key.slice(prefix.length), each]] : [])),
    );
    for (const each of all)
      if (!each.key.startsWith(prefix) && each.key !== 'kubernetes.io/ingress.class')
        this.ledger.approximated(each, 'is for other programs, not for the proxy');
      else if (each.key === 'kubernetes.io/ingress.class') this.ledger.taken(each);
    for (const [name, why] of Object.entries(withoutEffect)) this.approximated(name, why);
    for (const [name, [why, instead]] of Object.entries(refused)) this.notTaken(name, why, instead);
  }

  statement(name: string): Statement | undefined {
    return this.#statements.get(name);
  }

  text(name: string): string | undefined {
    const found = this.#statements.get(name);
    if (found !== undefined) this.ledger.taken(found);
    return found?.words[0];
  }

  isTrue(name: string): boolean {
    return this.text(name) === 'true';
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
    this.notTaken(name, 'is no number');
    return undefined;
  }

  /** Items between commas. */
  list(name: string): string[] {
    return (this.text(name) ?? '')
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  }

  approximated(name: string, why: string): void {
    const found = this.#statements.get(name);
    if (found !== undefined) this.ledger.approximated(found, why);
  }

  notTaken(name: string, why: string, instead?: string): void {
    const found = this.#statements.get(name);
    if (found !== undefined) this.ledger.notTaken(found, why, instead);
  }
}

const streams = 'Sluice streams bodies and has no buffers to set';

const withoutEffect: Readonly<Record<string, string>> = {
  'proxy-buffering': streams,
  'proxy-buffers-number': streams,
  'proxy-buffer-size': streams,
  'proxy-request-buffering': streams,
  'proxy-max-temp-file-size': streams,
  'client-body-buffer-size': streams,
  'proxy-http-version': 'Sluice speaks HTTP/1.1 to upstreams, HTTP/2 where the protocol says so',
  'service-upstream': 'endpoints are found by discovery',
};

const code = 'Sluice runs no code of nginx';

const refused: Readonly<Record<string, readonly [why: string, instead: string]>> = {
  'configuration-snippet': [code, 'a middleware of type headers, or extProc'],
  'server-snippet': [code, 'routes and middlewares'],
  'stream-snippet': [code, 'stream routes'],
  'auth-snippet': [code, 'extAuthz.onCheck'],
  'auth-signin': ['a denied request is not redirected by Sluice', 'let the service of auth-url answer 302'],
  'limit-connections': ['connections of one client are not limited', 'maxConnections of the listener, limit-rps'],
  'limit-rate': ['bytes per second are not limited', 'nothing'],
  'custom-http-errors': ['no default backend is asked for errors', 'errorPages of the route'],
  'default-backend': ['no other backend takes over', 'a second destination in the route'],
  'enable-modsecurity': ['there is no web application firewall', 'extProc'],
  'modsecurity-snippet': ['there is no web application firewall', 'extProc'],
  'auth-tls-secret': [
    'client certificates are asked for by listener; the routes are closed (403)',
    'tls.clientAuth of the listener',
  ],
  'auth-tls-verify-client': [
    'client certificates are asked for by listener; the routes are closed (403)',
    'tls.clientAuth of the listener',
  ],
  'proxy-redirect-from': ['Location fields of upstreams stay as they are', 'responseHeadersToAdd with a condition'],
  'proxy-redirect-to': ['Location fields of upstreams stay as they are', 'responseHeadersToAdd with a condition'],
  'proxy-cookie-path': ['cookies of upstreams stay as they are', 'extProc'],
  'proxy-cookie-domain': ['cookies of upstreams stay as they are', 'extProc'],
};
