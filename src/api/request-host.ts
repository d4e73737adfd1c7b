// Host of a request to the API (RFC 9112 §3.2, security.md S30): one header, which could be a host, and the host of the
// target where that names one. The browser guard decides which hosts are allowed.
import type { IncomingMessage } from 'node:http';
import { parseAuthority } from '../model/host-name.ts';

type RequestHead = Pick<IncomingMessage, 'headersDistinct' | 'httpVersionMinor' | 'url'>;

/** Returns the problem of the host; undefined: none. */
export function hostProblem({ headersDistinct, httpVersionMinor, url }: RequestHead): string | undefined {
  const hosts = headersDistinct.host ?? [];
  const [host] = hosts;
  if (hosts.length > 1 || (host === undefined && httpVersionMinor > 0)) return 'a request has exactly one Host header';
  if (host !== undefined && !isAuthority(host)) return 'the Host header is no host';
  const named = absolute.exec(url ?? '')?.[1]?.toLowerCase();
  if (named === undefined || named === host?.toLowerCase()) return undefined;
  return 'the Host header is not that of the request target';
}

/** Last valid host: most requests repeat it, and its check takes longer than the rest of a head. */
let known: string | undefined;

/** Returns whether a text is host and optional port. An empty port is the default (RFC 3986 §3.2.3). */
function isAuthority(host: string): boolean {
  if (host === known) return true;
  if (parseAuthority(host.replace(/:$/, '')) === undefined) return false;
  known = host;
  return true;
}

const absolute = /^https?:\/\/([^/?#]*)/i;
