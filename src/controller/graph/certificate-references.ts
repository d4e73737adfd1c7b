// Certificates and CA bundles that objects refer to: found, allowed, readable, and as secrets of Sluice.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { holdsSecret } from '../../model/secret-reference.ts';
import { type Secret, secretText } from '../kubernetes-kinds.ts';
import type { ControllerGraph } from './controller-graph.ts';
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
  graph: ControllerGraph,
  from: ReferenceSource,
  reference: ObjectReference,
  invalid: string,
): Found<FoundCertificate> {
  const { store } = graph;
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
  const problem = problemIn(secret, cert, key);
  if (problem !== undefined) return faulty(invalid, `Secret ${name}: ${problem}`);
  const part = (what: string, value: string): Entity => ({
    kind: 'secrets',
    body: {
      id: graph.entityId('secret', namespace, reference.name, what),
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
    if (holdsSecret(text)) throw new Error('a reference');
  } catch {
    return faulty(reasons.invalid, `ca.crt of ${kind} ${name} is no certificate`);
  }
  return { found: { pem: text } };
}

const faulty = (reason: string, message: string): { readonly fault: Fault } => ({ fault: { reason, message } });

/** Problems of secrets by their versions: a Gateway with many certificates looks at all of them when one is different. */
const known = new WeakMap<Secret, string | false>();

function problemIn(secret: Secret, cert: string, key: string): string | undefined {
  const found = known.get(secret) ?? problemOf(cert, key) ?? false;
  known.set(secret, found);
  return found === false ? undefined : found;
}

function problemOf(cert: string, key: string): string | undefined {
  if (holdsSecret(cert) || holdsSecret(key)) return 'it refers to secrets of Sluice';
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch {
    return 'tls.crt is no certificate';
  }
  try {
    if (!certificate.checkPrivateKey(createPrivateKey(key))) return 'tls.key is not the key of tls.crt';
  } catch {
    return 'tls.key is no private key';
  }
  // One that TLS cannot use, for a key that is too short for instance, would close the port to all other host names.
  try {
    createSecureContext({ cert, key });
    return undefined;
  } catch (error) {
    return `TLS cannot use it: ${error instanceof Error ? error.message : String(error)}`;
  }
}
