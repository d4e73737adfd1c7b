// host-without-certificate and certificate-expires: certificates of listeners, the hosts that routes ask for, and time.
import type { Listener } from '../../model/listener.ts';
import { type HostPattern, hostMatches, parseHostPattern } from '../../proxy/target/host.ts';
import { covers, namesIn } from '../../proxy/tls/certificate.ts';
import { readCertificates } from '../../proxy/tls/pem.ts';
import { nameOf, placeIn, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

interface ReadCertificate {
  readonly pointer: string;
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  readonly declared: readonly HostPattern[];
  readonly endsMs: number;
}

export function* hostsWithoutCertificate(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  const served = new Map<Listener, readonly ReadCertificate[] | undefined>();
  if (subject.listeners.every(({ tls }) => tls === undefined)) return found;
  for (const entry of subject.entries) {
    yield;
    if (entry.bindings?.length === 0) continue;
    for (const listener of subject.listenersOf(entry)) {
      if (listener.tls === undefined || entry.route.match?.scheme === 'http') continue;
      if (entry.route.match?.port !== undefined && entry.route.match.port !== listener.port) continue;
      if (!served.has(listener)) served.set(listener, certificatesOf(listener));
      const certificates = served.get(listener);
      if (certificates === undefined) continue;
      for (const pattern of entry.hosts) {
        const host = hostOf(pattern);
        if (
          host === undefined ||
          certificates.some((each) => covers({ cert: '', key: '', startsMs: 0, ...each }, host))
        )
          continue;
        if (
          pattern.kind === 'suffix' &&
          certificates.some(({ names }) => names.some((name) => hostMatches(pattern, name.replace('*', 'a'))))
        )
          continue;
        const [witness] = [...subject.witnesses([entry], [listener])].filter(
          ({ url }) => new URL(url).hostname === host,
        );
        if (witness === undefined || subject.ask(witness).matched === undefined) continue;
        found.push({
          severity: 'error',
          ...placeOf(entry, '/match/hostnames'),
          message: `no certificate of listener "${listener.name}" covers the host "${host}" of ${nameOf(entry)}`,
          witness: { ...witness, sni: host },
          because: [placeIn('listeners', listener, '/tls')],
          madeOf: [entry],
        });
      }
    }
  }
  return found;
}

/** A host of the pattern that can be a server name. */
function hostOf({ kind, text }: HostPattern): string | undefined {
  if (kind === 'any' || /^[0-9.]+$/.test(text) || text.includes(':')) return undefined;
  return kind === 'suffix' ? `host${text}` : text;
}

const dayMs = 86_400_000;
const soonMs = 14 * dayMs;

export function* certificatesThatExpire(subject: Subject): Generator<void, readonly RawFinding[]> {
  const found: RawFinding[] = [];
  const note = (place: ReturnType<typeof placeIn>, { endsMs, names, addresses }: ReadCertificate): void => {
    const left = endsMs - subject.nowMs;
    if (left >= soonMs) return;
    const of = [...names, ...addresses].slice(0, namesMax).join(', ') || 'no name';
    const when = new Date(endsMs).toISOString().slice(0, 10);
    const message =
      left < 0 ? `the certificate of ${of} has expired on ${when}` : `the certificate of ${of} expires on ${when}`;
    found.push({ severity: left < 0 ? 'error' : 'warning', ...place, message, witness: null, because: [] });
  };
  for (const listener of subject.configuration.listeners) {
    yield;
    for (const each of certificatesOf(listener) ?? []) note(placeIn('listeners', listener, each.pointer), each);
  }
  for (const destination of subject.configuration.destinations) {
    yield;
    const own = read(destination.options?.tls?.cert, '/options/tls/cert');
    if (own !== undefined) note(placeIn('destinations', destination, own.pointer), own);
  }
  return found;
}

const namesMax = 10;

/** Undefined where one of them cannot be read: nothing is certain then. */
function certificatesOf({ tls }: Listener): readonly ReadCertificate[] | undefined {
  if (tls?.cert === undefined) return [];
  const all = [
    read(tls.cert, '/tls/cert'),
    ...(tls.certificates ?? []).map(({ cert, serverNames }, at) =>
      read(cert, `/tls/certificates/${at}/cert`, serverNames),
    ),
  ];
  const readable = all.filter((each) => each !== undefined);
  return readable.length === all.length ? readable : undefined;
}

function read(
  pem: string | undefined,
  pointer: string,
  serverNames: readonly string[] = [],
): ReadCertificate | undefined {
  if (pem === undefined) return undefined;
  try {
    const [leaf] = readCertificates(pem);
    if (leaf === undefined) return undefined;
    const { names, addresses } = namesIn(leaf);
    return {
      pointer,
      names,
      addresses,
      declared: serverNames.map(parseHostPattern),
      endsMs: leaf.validToDate.getTime(),
    };
  } catch {
    return undefined;
  }
}
