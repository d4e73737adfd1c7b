// Middlewares that find the consumer of a request, by the kind of the credential that they read (contract.md §2.13).
import type { ConsumerCredential } from '../../model/consumer.ts';
import type { Middleware } from '../../model/middleware.ts';

export type CredentialKind = ConsumerCredential['type'];

export const consumerFinders: ReadonlyMap<string, CredentialKind> = new Map<Middleware['type'], CredentialKind>([
  ['apiKey', 'apiKey'],
  ['basicAuth', 'basic'],
  ['jwt', 'jwt'],
]);

/** Returns whether middlewares of the type look for a credential of one of these kinds. */
export function findsAny(type: string, kinds: ReadonlySet<CredentialKind>): boolean {
  const kind = consumerFinders.get(type);
  return kind !== undefined && kinds.has(kind);
}
