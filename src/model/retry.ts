// Retry policy, when a failed request is tried again (contract.md §2.4.3), on a route or as the default of a group.
import { retryDefaults } from './defaults.ts';
import { Duration, ListOf, Nested, Uint } from './field.ts';
import { oneOf, uint } from './scalar.ts';

export const retryConditions = ['server-error', 'connection-failure', 'gateway-error', 'retriable-codes'] as const;

/** Names of gRPC status codes that may be worth another try. */
export const grpcCodes = ['cancelled', 'deadline-exceeded', 'internal', 'resource-exhausted', 'unavailable'] as const;

export class Backoff {
  @Duration('Wait before the first retry; it grows from there.', { default: retryDefaults.backoff.base })
  readonly base?: string;

  @Duration('Longest wait between retries.', { default: retryDefaults.backoff.max })
  readonly max?: string;
}

export class Retry {
  @Uint('Retries after the first try. 0: none, on a route also in place of the default of its group.', {
    default: retryDefaults.attempts,
  })
  readonly attempts?: number;

  @Duration('Limit on each try, from its start to the response headers. Absent or 0: none.')
  readonly perAttemptTimeout?: string;

  @ListOf(oneOf(retryConditions), 'Failures that are worth another try.', { default: retryDefaults.on, lengthMax: 64 })
  readonly on?: readonly (typeof retryConditions)[number][];

  @ListOf(uint({ min: 100, max: 599 }), 'Statuses that `retriable-codes` stands for.', {
    default: retryDefaults.retriableCodes,
    lengthMax: 500,
  })
  readonly retriableCodes?: readonly number[];

  @ListOf(oneOf(grpcCodes), 'Statuses of trailers-only gRPC responses that `retriable-codes` stands for, too.', {
    default: retryDefaults.grpcCodes,
    lengthMax: 64,
  })
  readonly grpcCodes?: readonly (typeof grpcCodes)[number][];

  @Uint('Most retries in flight to a destination, in percent of its requests in flight; three are always allowed.', {
    max: 100,
    default: retryDefaults.budgetPercent,
  })
  readonly budgetPercent?: number;

  @Nested(Backoff, 'Waits between tries.', { absentIsEmpty: true })
  readonly backoff?: Backoff;
}
