// TLS material of a listener, made from its configuration: certificates by name, versions, trusted authorities.
// Unusable parts are named in warnings; text in PEM form is checked here and nowhere earlier (architecture.md §6.30).
import { createHash } from 'node:crypto';
import type { Listener } from '../../model/listener.ts';
import type { ListenerTls } from '../../model/listener-tls.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { DeclaredNames } from './declared-names.ts';
import { MaterialProblem, readCertificates } from './pem.ts';
import { ServerNames } from './server-names.ts';

export interface ListenerMaterial {
  /** Certificate for clients that send no server name, or one that no other certificate has. */
  readonly own: Certificate;
  /** Asked before `named`. */
  readonly declared: DeclaredNames<Certificate>;
  readonly named: ServerNames<Certificate>;
  readonly count: number;
  /** Id of the authorities of clients; empty when no certificate is verified. */
  readonly trust: string;
  /** Id of the listener and its policy for client certificates: sessions are valid within it. */
  readonly scope: string;
}

/** Pointers name entities by id. */
export interface CheckedMaterial {
  /** Absent when the listener cannot open; the first warning gives the reason. */
  readonly material: ListenerMaterial | undefined;
  readonly warnings: readonly Problem[];
}

const soonMs = 14 * 24 * 60 * 60 * 1_000;

/** Yields after each certificate, a tenth of a millisecond of work. */
export function* checkMaterial(
  { id, tls }: Listener & { readonly tls: ListenerTls },
  nowMs: number,
): Generator<void, CheckedMaterial> {
  const warnings: Problem[] = [];
  const declared = new DeclaredNames<Certificate>();
  const named = new ServerNames<Certificate>();
  const at = (...path: readonly (string | number)[]): string => pointerOf('listeners', id, 'tls', ...path);
  const fatal = (pointer: string, message: string): CheckedMaterial => ({
    material: undefined,
    warnings: [{ pointer, message: `${message}: the listener stays closed` }],
  });
  const own = attempt(() => readCertificate({ cert: tls.cert, key: tls.key }));
  if (typeof own === 'string') return fatal(at(), own);
  warnings.push(...aboutTime(own, at(), nowMs));
  yield;
  const trust = attempt(() => (trustsAuthorities(tls) ? readCertificates(tls.clientAuth?.ca ?? '') : []));
  if (typeof trust === 'string') return fatal(at('clientAuth', 'ca'), trust);
  yield;
  let count = 0;
  for (const [place, pair] of (tls.certificates ?? []).entries()) {
    const pointer = at('certificates', place);
    const certificate = attempt(() => readCertificate(pair));
    if (typeof certificate === 'string') warnings.push({ pointer, message: `${certificate}: it is left out` });
    else {
      count++;
      warnings.push(
        ...aboutTime(certificate, pointer, nowMs),
        ...aboutNames(certificate, declared.add(certificate, certificate.declared) + named.add(certificate), pointer),
      );
    }
    yield;
  }
  return { material: { own, declared, named, count, trust: trustOf(tls), scope: scopeOf(id, tls) }, warnings };
}

/** Returns whether clients are asked for a certificate. */
export const requestsCertificate = ({ clientAuth }: ListenerTls): boolean => (clientAuth?.mode ?? 'none') !== 'none';

/** Returns whether what they show is an identity: it must verify then. */
export const verifiesCertificate = (tls: ListenerTls): boolean =>
  requestsCertificate(tls) && tls.clientAuth?.mode !== 'unverified';

/** Returns whether certificates of authorities are used: to verify with, or only named to the clients. */
const trustsAuthorities = (tls: ListenerTls): boolean =>
  verifiesCertificate(tls) || (requestsCertificate(tls) && tls.clientAuth?.ca !== undefined);

function attempt<T>(work: () => T): T | string {
  try {
    return work();
  } catch (error) {
    if (error instanceof MaterialProblem) return error.message;
    throw error;
  }
}

/** Returns the problems of a certificate's validity at that time, Unix milliseconds. */
export function aboutTime({ startsMs, endsMs }: Certificate, pointer: string, nowMs: number): Problem[] {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  if (nowMs > endsMs) return [{ pointer, message: `its certificate has expired on ${day(endsMs)}` }];
  if (nowMs < startsMs) return [{ pointer, message: `its certificate is not valid before ${day(startsMs)}` }];
  return endsMs - nowMs < soonMs ? [{ pointer, message: `its certificate expires on ${day(endsMs)}` }] : [];
}

function aboutNames({ names, declared }: Certificate, added: number, pointer: string): Problem[] {
  if (names.length === 0 && declared.length === 0)
    return [{ pointer, message: 'its certificate has no DNS name: no client is going to get it' }];
  if (added > 0) return [];
  return [{ pointer, message: 'earlier certificates have all its names: no client is going to get it' }];
}

function trustOf(tls: ListenerTls): string {
  const { ca = '' } = tls.clientAuth ?? {};
  return !verifiesCertificate(tls) ? '' : createHash('sha256').update(ca).digest('hex');
}

const scopeOf = (id: string, tls: ListenerTls): string =>
  JSON.stringify([id, tls.clientAuth?.mode ?? 'none', trustOf(tls)]);
