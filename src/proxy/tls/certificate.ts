// Certificate of a listener, with its key: whether the pair is usable, for which names, and until when.
import type { X509Certificate } from 'node:crypto';
import { isIPv6, SocketAddress } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type HostPattern, hostMatches, parseHostPattern } from '../target/host.ts';
import { alternativeNames } from './alternative-names.ts';
import { MaterialProblem, readCertificates, reasonOf } from './pem.ts';

export interface Certificate {
  /** Chain and key as PEM text. */
  readonly cert: string;
  readonly key: string;
  /** Lower case; wildcards as `*.example.com`. */
  readonly names: readonly string[];
  /** Server names that the configuration declares for it. */
  readonly declared: readonly HostPattern[];
  /** Addresses in the form of `canonicalAddress`. */
  readonly addresses: readonly string[];
  /** Unix milliseconds. */
  readonly startsMs: number;
  readonly endsMs: number;
}

interface CertificateSource {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverNames?: readonly string[];
}

/** Throws MaterialProblem when the pair cannot be used. */
export function readCertificate({ cert = '', key = '', serverNames = [] }: CertificateSource): Certificate {
  const pair = { cert, key };
  const [own] = within('its certificate', () => readCertificates(pair.cert));
  if (own === undefined) throw new MaterialProblem('its certificate is missing');
  tryOut(pair);
  return {
    ...pair,
    ...namesIn(own),
    declared: serverNames.map(parseHostPattern),
    startsMs: own.validFromDate.getTime(),
    endsMs: own.validToDate.getTime(),
  };
}

/** Returns the names and addresses that a certificate is valid for; its common names where it has no others. */
export function namesIn(certificate: X509Certificate): Pick<Certificate, 'names' | 'addresses'> {
  const { dnsNames, addresses } = alternativeNames(certificate);
  const names = dnsNames.length > 0 || addresses.length > 0 ? dnsNames : commonNames(certificate);
  return { names: names.map((name) => name.toLowerCase()), addresses: addresses.map(canonicalAddress) };
}

/** Context for trying pairs: one of OpenSSL's is large, and garbage that the collector does not see. */
let trial: SecureContext | undefined;

function tryOut(pair: { readonly cert: string; readonly key: string }): void {
  trial ??= newContext();
  try {
    load(trial, pair);
  } catch (error) {
    // Its state after an error is unknown.
    trial = undefined;
    throw error;
  }
}

/** Returns whether the certificate is valid for a host, which is in lower case and without port. */
export function covers({ names, addresses, declared }: Certificate, host: string): boolean {
  const dot = host.indexOf('.');
  const rest = dot > 0 ? host.slice(dot) : undefined;
  return (
    declared.some((pattern) => hostMatches(pattern, host)) ||
    names.some((name) => name === host || (name.startsWith('*.') && name.slice(1) === rest)) ||
    (addresses.length > 0 && addresses.includes(canonicalAddress(host)))
  );
}

/** Returns the one spelling of an IPv6 address, without brackets. */
function canonicalAddress(text: string): string {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  return isIPv6(bare) ? new SocketAddress({ address: bare, family: 'ipv6' }).address : bare;
}

/** Puts the pair into the context, in place of an earlier one. Throws MaterialProblem. */
export function load(context: SecureContext, { cert, key }: { readonly cert: string; readonly key: string }): void {
  const native: NativeContext = context.context;
  within('its certificate', () => native.setCert(cert));
  within('its key', () => native.setKey(key));
}

/** Returns a context without a key. `trusted` are authorities as PEM text; without them it trusts none. */
export const newContext = (trusted?: string): SecureContext => createSecureContext({ ca: trusted ?? [] });

interface NativeContext {
  setCert(pem: string): void;
  setKey(pem: string): void;
}

/**
 * Returns the common names, which old certificates have in place of alternative names. No client should trust the
 * subject (RFC 9110 §4.3.4), but a client that names it as the server wants this certificate and no other.
 */
function commonNames({ subject }: X509Certificate): string[] {
  const line = (subject ?? '').split('\n').find((part) => part.startsWith('CN='));
  const name = line?.slice('CN='.length) ?? '';
  return /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name) ? [name] : [];
}

function within<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new MaterialProblem(
      `${what} ${error instanceof MaterialProblem ? error.message : `cannot be used: ${reasonOf(error)}`}`,
    );
  }
}
