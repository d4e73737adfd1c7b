// Why an external service gave no usable answer, in words for the client's error body and for logs.
export class ExternalFailure extends Error {
  override readonly name = 'ExternalFailure';
  /** The service ended the stream in good order, without an answer. */
  readonly clean: boolean;

  constructor(reason: string, clean = false) {
    super(reason);
    this.clean = clean;
  }
}

export const reasonOf = (error: unknown): string =>
  error instanceof ExternalFailure ? error.message : error instanceof Error ? errorText(error) : String(error);

function errorText(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string' ? `unreachable: ${error.code}` : `unreachable: ${error.message}`;
}
