// What the log says of a connection that failed.

/** Where several addresses of a host were tried, the reasons are inside. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [first] = error instanceof AggregateError ? error.errors : [error.message === '' ? error.cause : undefined];
  if (first instanceof Error) return reasonOf(first);
  return error.message === '' ? error.name : error.message;
}
