// Certificates and CA bundles that objects refer to: found, allowed, readable, and as secrets of Sluice.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { secretText } from '../kubernetes-kinds.ts';
import { entityId } from './entity-id.ts';
import type { CertificateFacts, Entity } from './facts.ts';
import { mayRefer, type ReferenceSource } from './grants.ts';
import type { ObjectStore } from './object-store.ts';

export interface ObjectReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Fault {
  readonly reason: string;
  readonly message: string;
}

interface FoundCertificate {
  readonly certificate: CertificateFacts;
  readonly entities: readonly Entity[];
}

interface FoundBundle {
  readonly pem: string;
}

type Found<T> =
  | { readonly fault: Fault; readonly found?: undefined }
  | { readonly found: T; readonly fault?: undefined };

const isSecret = ({ group, kind }: ObjectReference): boolean => group === '' && kind === 'Secret';

/** Finds a certificate with its key. `invalid` is the reason for what is not there or cannot be used. */
export function findCertificate(
  store: ObjectStore,
  from: ReferenceSource,
  reference: ObjectReference,
  invalid: string,
): Found<FoundCertificate> {
  const namespace = reference.namespace ?? from.namespace;
  const name = `${namespace}/${reference.name}`;
  if (!isSecret(reference)) return faulty(invalid, `${reference.group}/${reference.kind} holds no certificates`);
  const target = { group: '', kind: 'Secret', namespace, name: reference.name };
  if (!mayRefer(store, from, target))
    return faulty('RefNotPermitted', `no ReferenceGrant allows to refer to Secret ${name}`);
  const secret = store.read('Secret', namespace, reference.name);
  if (secret === undefined) return faulty(invalid, `there is no Secret ${name}`);
  const cert = secretText(secret, 'tls.crt') ?? '';
  const key = secretText(secret, 'tls.key') ?? '';
  const problem = problemOf(cert, key);
  if (problem !== undefined) return faulty(invalid, `Secret ${name}: ${problem}`);
  const part = (what: string, value: string): Entity => ({
    kind: 'secrets',
    body: {
      id: entityId('secret', namespace, reference.name, what),
      name: `${name}/${what}`,
      value,
    },
  });
  const entities = [part('tls.crt', cert), part('tls.key', key)];
  const [certId = '', keyId = ''] = entities.map(({ body }) => `{{secret:value:${body.id}}}`);
  return { found: { certificate: { cert: certId, key: keyId }, entities } };
}

/** Finds a CA bundle in a ConfigMap, or in a Secret where that is allowed, under `ca.crt`. */
export function findBundle(
  store: ObjectStore,
  from: ReferenceSource,
  reference: ObjectReference,
  reasons: { readonly invalid: string; readonly kind: string },
): Found<FoundBundle> {
  const { group, kind } = reference;
  const namespace = reference.namespace ?? from.namespace;
  const name = `${namespace}/${reference.name}`;
  if (group !== '' || (kind !== 'ConfigMap' && kind !== 'Secret'))
    return faulty(reasons.kind, `${group === '' ? '' : `${group}/`}${kind} holds no CA certificates`);
  if (!mayRefer(store, from, { group, kind, namespace, name: reference.name }))
    return faulty('RefNotPermitted', `no ReferenceGrant allows to refer to ${kind} ${name}`);
  const object = kind === 'Secret' ? store.read('Secret', namespace, reference.name) : undefined;
  const text =
    kind === 'Secret'
      ? object && secretText(object, 'ca.crt')
      : store.read('ConfigMap', namespace, reference.name)?.data?.['ca.crt'];
  if (text === undefined) return faulty(reasons.invalid, `${kind} ${name} is not there or has no ca.crt`);
  try {
    new X509Certificate(text);
  } catch {
    return faulty(reasons.invalid, `ca.crt of ${kind} ${name} is no certificate`);
  }
  return { found: { pem: text } };
}

const faulty = (reason: string, message: string): { readonly fault: Fault } => ({ fault: { reason, message } });

function problemOf(cert: string, key: string): string | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch {
    return 'tls.crt is no certificate';
  }
  try {
    return certificate.checkPrivateKey(createPrivateKey(key)) ? undefined : 'tls.key is not the key of tls.crt';
  } catch {
    return 'tls.key is no private key';
  }
}
