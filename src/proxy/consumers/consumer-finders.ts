// Middlewares that find the consumer of a request, by the kind of the credential that they read (contract.md §2.13).
import type { ConsumerCredential } from '../../model/consumer.ts';
import type { Middleware } from '../../model/middleware.ts';

export const consumerFinders: ReadonlyMap<string, ConsumerCredential['type']> = new Map<
  Middleware['type'],
  ConsumerCredential['type']
>([
  ['apiKey', 'apiKey'],
  ['basicAuth', 'basic'],
  ['jwt', 'jwt'],
]);
