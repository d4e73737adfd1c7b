// Reason of a failed connection, for the log.

/** Returns the reason of an error; of an AggregateError, after several addresses were tried, the reasons inside. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [first] = error instanceof AggregateError ? error.errors : [error.message === '' ? error.cause : undefined];
  if (first instanceof Error) return reasonOf(first);
  return error.message === '' ? error.name : error.message;
}
