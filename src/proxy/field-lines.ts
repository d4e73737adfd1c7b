// Field lines on their way through the proxy (contract.md §7.1, architecture.md §6.9): what a hop must not pass on
// goes first, what Sluice says itself comes after, so that a client can neither forge nor remove it.

/** Name and value in turn, as sent, in order. */
export type FieldLines = readonly string[];

/** Who sent a request, as far as the connection can tell. */
export interface Sender {
  /** Client address of architecture.md §6.9. */
  readonly clientIp: string;
  /** The socket's peer is one of the listener's `trustedProxies`. */
  readonly trusted: boolean;
  readonly scheme: 'http' | 'https';
  /** The `Host` field as sent. */
  readonly authority: string;
}

const hopByHop = new Set(
  'connection proxy-connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade expect'.split(
    ' ',
  ),
);

/** Request fields for the upstream, `host` being the authority to send. */
export function upstreamFields(received: FieldLines, sender: Sender, host: string): string[] {
  const named = namedByConnection(received);
  const kept: string[] = ['Host', host];
  const seen = new Set<string>();
  let forwardedFor = '';
  let trailers = false;
  for (let i = 0; i + 1 < received.length; i += 2) {
    const [name = '', value = ''] = [received[i], received[i + 1]];
    const lower = name.toLowerCase();
    if (lower === 'te') trailers ||= /(^|,)\s*trailers\s*(,|;|$)/i.test(value);
    if (lower === 'host' || hopByHop.has(lower) || named.has(lower)) continue;
    const alias = lower.replaceAll('_', '-');
    if (alias === 'x-forwarded-client-cert' || (!sender.trusted && isForwarding(alias))) continue;
    if (lower === 'x-forwarded-for') forwardedFor += forwardedFor === '' ? value : `, ${value}`;
    else kept.push(name, value);
    seen.add(lower);
  }
  if (trailers) kept.push('TE', 'trailers');
  kept.push('X-Forwarded-For', forwardedFor === '' ? sender.clientIp : `${forwardedFor}, ${sender.clientIp}`);
  if (!seen.has('x-forwarded-proto')) kept.push('X-Forwarded-Proto', sender.scheme);
  if (!seen.has('x-forwarded-host')) kept.push('X-Forwarded-Host', sender.authority);
  return kept;
}

/** Response fields for the client; `serverName` replaces whatever `Server` the upstream sent. */
export function downstreamFields(received: FieldLines, serverName: string | undefined): string[] {
  const named = namedByConnection(received);
  const kept: string[] = serverName === undefined ? [] : ['Server', serverName];
  for (let i = 0; i + 1 < received.length; i += 2) {
    const [name = '', value = ''] = [received[i], received[i + 1]];
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || named.has(lower)) continue;
    if (lower === 'server' && serverName !== undefined) continue;
    kept.push(name, value);
  }
  return kept;
}

const isForwarding = (name: string): boolean =>
  name.startsWith('x-forwarded-') || name === 'forwarded' || name === 'x-real-ip';

/** Names that `Connection` lists. Framing and `Host` cannot be taken away like that. */
function namedByConnection(fields: FieldLines): Set<string> {
  const named = new Set<string>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (fields[i]?.toLowerCase() !== 'connection') continue;
    for (const name of (fields[i + 1] ?? '').split(',')) named.add(name.trim().toLowerCase());
  }
  for (const name of ['host', 'content-length', 'transfer-encoding']) named.delete(name);
  return named;
}
