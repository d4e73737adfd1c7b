// Content type of a body whose configuration names none.

/** Returns JSON for an object or a list, HTML for what begins with `<`, else plain text. */
export function typeOfBody(body: string): string {
  if (isJsonAggregate(body)) return 'application/json';
  return /^\s*</.test(body) ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
}

function isJsonAggregate(body: string): boolean {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
