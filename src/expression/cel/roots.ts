// Where closures read the input of an expression: by whole path, so that `request.headers["x-user"]` is one call and
// no map of headers is ever built for it.

import type { Value } from './values.ts';
import type { RequestView } from './view.ts';

export interface Roots<Input> {
  /** `request.method` → its reader. Undefined means absent. */
  readonly reads: ReadonlyMap<string, (input: Input) => Value>;
  /** Maps that are asked by key without being built: `request.headers`. */
  readonly keyed: ReadonlyMap<string, (input: Input, key: string) => Value>;
}

/** What jwt expressions see (contract.md §6.6). */
export interface ClaimsInput {
  /** Decoded payload of the token; its numbers are doubles. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Unix seconds. */
  readonly now: number;
}

export const requestRoots: Roots<RequestView> = {
  reads: new Map<string, (view: RequestView) => Value>([
    ['request', (view) => view],
    ['request.method', (view) => view.facts.method],
    ['request.path', (view) => view.facts.path],
    ['request.host', (view) => view.facts.host],
    ['request.scheme', (view) => view.facts.scheme],
    ['request.clientIp', (view) => view.facts.clientIp],
    ['request.headers', (view) => view.headers],
    ['request.queryParams', (view) => view.queryParams],
    ['request.body', (view) => view.body],
    ['request.body.raw', (view) => view.body?.raw],
    ['request.body.json', (view) => view.body?.json],
    ['request.tls', (view) => view.facts.tls],
    ['request.tls.peerCertificate', (view) => view.facts.tls?.peerCertificate],
    ['request.tls.peerCertificate.uris', (view) => view.facts.tls?.peerCertificate.uris],
    ['request.tls.peerCertificate.dnsNames', (view) => view.facts.tls?.peerCertificate.dnsNames],
    ['request.tls.peerCertificate.subject', (view) => view.facts.tls?.peerCertificate.subject],
    ['request.tls.peerCertificate.serial', (view) => view.facts.tls?.peerCertificate.serial],
  ]),
  keyed: new Map([
    ['request.headers', (view: RequestView, name: string) => view.header(name)],
    ['request.queryParams', (view: RequestView, name: string) => view.queryParam(name)],
  ]),
};

export const claimsRoots: Roots<ClaimsInput> = {
  reads: new Map<string, (input: ClaimsInput) => Value>([
    ['claims', (input) => input.claims],
    ['now', (input) => BigInt(Math.floor(input.now))],
  ]),
  keyed: new Map(),
};
