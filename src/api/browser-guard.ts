// Guard that keeps web pages away from an API that listens on the operator's own machine (architecture.md §6.21,
// security.md S22). Bodies of any content type are parsed, so a page could otherwise write without a preflight.
import { BlockList, isIP } from 'node:net';
import { SluiceError } from '../errors.ts';

/** Part of a request that shows its origin. */
export interface Origin {
  readonly method: string;
  /** Address that the connection arrived at. */
  readonly localAddress: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
loopback.addSubnet('::ffff:127.0.0.0', 104, 'ipv6');

/** Throws FORBIDDEN for a rebound host name, a page of another origin, and writes that a page sent blindly. */
export function guardAgainstPages(origin: Origin, allowedHosts: readonly string[]): void {
  const host = hostOf(header(origin, 'host'));
  if (arrivedAtLoopback(origin) && host !== undefined && !isOwnName(host.name, allowedHosts)) {
    throw new SluiceError('FORBIDDEN', 'this host name is not served here; list it in controlPlane.allowedHosts');
  }
  if (isForeign(header(origin, 'origin'), host?.text, allowedHosts)) {
    throw new SluiceError('FORBIDDEN', 'requests of pages from another origin are refused');
  }
  if (isBlind(origin)) throw new SluiceError('FORBIDDEN', 'cross-site requests are refused');
}

const arrivedAtLoopback = ({ localAddress }: Origin): boolean =>
  localAddress !== undefined && loopback.check(localAddress, isIP(localAddress) === 6 ? 'ipv6' : 'ipv4');

const isOwnName = (name: string, allowedHosts: readonly string[]): boolean =>
  name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || isAllowed(name, allowedHosts);

const isAllowed = (name: string, allowedHosts: readonly string[]): boolean =>
  allowedHosts.some((allowed) => allowed.toLowerCase() === name);

// Schemes are not compared: behind a proxy that ends TLS the page's is https and ours is http.
function isForeign(origin: string | undefined, host: string | undefined, allowedHosts: readonly string[]): boolean {
  if (origin === undefined) return false;
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  if (page === undefined || page.host === '') return true;
  const here = URL.canParse(`${page.protocol}//${host}`) ? new URL(`${page.protocol}//${host}`).host : undefined;
  return page.host !== here && !isAllowed(page.hostname, allowedHosts);
}

// Another site may open a page here by a link and send nothing else; no page may send a request whose answer it cannot read.
function isBlind(origin: Origin): boolean {
  const reads = origin.method === 'GET' || origin.method === 'HEAD';
  const site = header(origin, 'sec-fetch-site');
  const mode = header(origin, 'sec-fetch-mode');
  if (site === 'cross-site') return !(reads && mode === 'navigate');
  return mode === 'no-cors' && !(reads && site === 'same-origin');
}

/** `Host` in lower case, with and without its port. An invalid header gives the empty name, which is never served. */
function hostOf(text: string | undefined): { text: string; name: string } | undefined {
  if (text === undefined) return undefined;
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]*)(?::\d*)?$/i.exec(text);
  return { text: text.toLowerCase(), name: (match?.[1] ?? '').toLowerCase() };
}

function header({ headers }: Origin, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}
