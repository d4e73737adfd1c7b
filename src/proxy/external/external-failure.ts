// Why an external service gave no usable answer, in words for the client's error body and for logs.
export class ExternalFailure extends Error {
  override readonly name = 'ExternalFailure';
}

/** There was no answer in time, whichever side's clock said so first: it is one outcome, under one name. */
export const timedOut = (): ExternalFailure => new ExternalFailure('timeout');

/** Failure of a call whose exchange has ended meanwhile: it is never shown. */
export const notAwaited = (): ExternalFailure => new ExternalFailure('the caller has gone');

export const isTimeout = (error: unknown): boolean => error instanceof ExternalFailure && error.message === 'timeout';

export const reasonOf = (error: unknown): string =>
  error instanceof ExternalFailure ? error.message : error instanceof Error ? errorText(error) : String(error);

function errorText(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string' ? `unreachable: ${error.code}` : `unreachable: ${error.message}`;
}
