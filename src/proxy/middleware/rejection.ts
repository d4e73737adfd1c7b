// Rejection of a request by one of our own middlewares (contract.md §8.0): not a proxy error, so the listener's
// `proxyErrors` do not apply.
import type { LocalReply } from '../exchange/phase.ts';

/** `fields`: further names and values, in turn. */
export const rejection = (status: number, message: string, fields: readonly string[] = []): LocalReply => ({
  status,
  fields: ['Content-Type', 'application/json', ...fields],
  body: JSON.stringify({ error: message }),
});
