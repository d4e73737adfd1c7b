// Debug headers: the provenance of a response, where the listener enables it; upstreams cannot set them
// (observability.md §1).
import type { ExchangeResponse } from '../message/response.ts';

interface Provenance {
  readonly route: { readonly name: string };
  readonly snapshot: { readonly id: string };
  /** `host:port`, or empty. */
  readonly endpoint: string;
  /** Number of attempts; 0 for a response without an upstream. */
  readonly attempts: number;
}

/** Sets the headers. `from`: undefined when no entry matched the request. */
export function setDebugHeaders({ edits, lines }: ExchangeResponse, from: Provenance | undefined): void {
  for (let i = 0; i < lines.count; i++) if (/^x-sluice-/i.test(lines.name(i))) edits.remove(lines.name(i));
  if (from === undefined) return;
  edits.set('x-sluice-route', encodeURI(from.route.name));
  edits.set('x-sluice-snapshot', from.snapshot.id);
  if (from.endpoint !== '') edits.set('x-sluice-endpoint', from.endpoint);
  if (from.attempts > 0) edits.set('x-sluice-attempts', String(from.attempts));
}
