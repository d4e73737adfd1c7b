// Failure of an external service: the reason why it gave no usable answer, for the client's error body and for logs.
export class ExternalFailure extends Error {
  override readonly name = 'ExternalFailure';
}

/** Failure of a call without an answer in time, by the clock of either side: one result, under one name. */
export const timedOut = (): ExternalFailure => new ExternalFailure('timeout');

/** Failure of a call whose exchange has ended meanwhile: it is never shown. */
export const notAwaited = (): ExternalFailure => new ExternalFailure('the caller has gone');

export const isTimeout = (error: unknown): boolean => error instanceof ExternalFailure && error.message === 'timeout';

export const reasonOf = (error: unknown): string =>
  error instanceof ExternalFailure ? error.message : error instanceof Error ? errorText(error) : String(error);

function errorText(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string' ? `unreachable: ${error.code}` : `unreachable: ${error.message}`;
}
