// What a client sees when one of our own middlewares turns it away (contract.md §8.0): not a proxy error, whatever the
// listener's `proxyErrors` says.
import type { LocalReply } from '../exchange/phase.ts';

/** `fields`: further names and values, in turn. */
export const rejection = (status: number, message: string, fields: readonly string[] = []): LocalReply => ({
  status,
  fields: ['Content-Type', 'application/json', ...fields],
  body: JSON.stringify({ error: message }),
});
