// Binds of frontends of HAProxy as listeners.
import type { ImportedListener, ModelFields } from '../intermediate.ts';
import type { Statement } from '../statement.ts';
import type { Section } from './proxy-section.ts';

/** Listeners of a frontend by their binds. `isPassthrough`: connections are told apart by the server name of a ClientHello. */
export function listenersOf(section: Section, isPassthrough: boolean): ImportedListener[] {
  return section.own('bind').flatMap((statement) => {
    const [addresses = '', ...words] = statement.words;
    section.ledger.taken(statement);
    const tls = tlsOf(statement, words, section);
    return addresses.split(',').flatMap((text) => {
      const place = addressOf(text);
      if (place === undefined) {
        section.ledger.notTaken(statement, 'it is no address and port of TCP', 'a port of 127.0.0.1');
        return [];
      }
      if (tls === 'refused') return [];
      const common: ModelFields & { readonly port: number } = { ...place, ...tls, ...connectionsOf(section) };
      const fields = section.isTcp
        ? {
            ...common,
            protocol: 'tcp',
            ...(isPassthrough && tls.tls === undefined && { tls: { mode: 'passthrough' } }),
          }
        : { ...common, timeouts: timeoutsOf(section) };
      return [{ name: `${section.name}-${place.port}`, from: statement, fields }];
    });
  });
}

function connectionsOf(section: Section): ModelFields {
  const statement = section.one('maxconn');
  const most = Number(statement?.words[0] ?? 0);
  if (statement === undefined || !(most > 0)) return {};
  section.ledger.approximated(statement, 'connections beyond it are closed, and none waits');
  return { maxConnections: most };
}

function addressOf(text: string): { readonly address: string; readonly port: number } | undefined {
  const [, host = '', port] =
    /^(?:ipv[46]@)?(\[[0-9a-fA-F:.]*\]|[0-9a-fA-F:]*::|[A-Za-z0-9._*-]*):(\d+)$/.exec(text) ?? [];
  if (port === undefined) return undefined;
  const bare = host.replace(/^\[|\]$/g, '');
  return {
    address: bare === '' || bare === '*' ? '0.0.0.0' : bare === 'localhost' ? '127.0.0.1' : bare,
    port: Number(port),
  };
}

const valued = new Set(
  'crt ca-file crl-file alpn verify ssl-min-ver ssl-max-ver maxconn backlog nice process thread interface mss name id mode user group uid gid ciphers ciphersuites curves ecdhe npn tcp-ut shards'.split(
    ' ',
  ),
);
const versions: Readonly<Record<string, string>> = {
  'TLSv1.0': 'TLSv1_0',
  'TLSv1.1': 'TLSv1_1',
  'TLSv1.2': 'TLSv1_2',
  'TLSv1.3': 'TLSv1_3',
};

/** Fields of TLS; `refused` where clients would get in that the bind keeps out. */
function tlsOf(statement: Statement, words: readonly string[], { ledger }: Section): ModelFields | 'refused' {
  const found = new Map<string, string[]>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const hasValue = valued.has(word);
    found.set(word, [...(found.get(word) ?? []), ...(hasValue ? [words[at + 1] ?? ''] : [])]);
    if (hasValue) at += 1;
  }
  if (found.has('accept-proxy'))
    ledger.notTaken(
      statement,
      'the balancers in front are not named',
      'proxyProtocol and trustedProxies of the listener',
    );
  if (found.has('crl-file')) ledger.notTaken(statement, 'lists of revoked certificates are not read', 'extAuthz');
  const others = [...found.keys()].filter(
    (each) => !/^(ssl|crt|ca-file|alpn|verify|ssl-m(in|ax)-ver|accept-proxy|name)$/.test(each),
  );
  if (others.length > 0)
    ledger.approximated(statement, `${others.join(', ')}: options of the socket are those of Sluice`);
  if (!found.has('ssl')) return {};
  const files = found.get('crt') ?? [];
  const one = (name: string) => found.get(name)?.at(-1);
  if (files.length === 0) {
    ledger.notTaken(statement, 'it names no file of a certificate', 'tls of a listener');
    return 'refused';
  }
  ledger.approximated(statement, 'put the files with certificate and key on each node; folders are not read');
  const pairs = files.map((path) => ({ cert: `{{secret:file:${path}}}`, key: `{{secret:file:${path}}}` }));
  const mode = { required: 'require', optional: 'optional' }[one('verify') ?? ''];
  const [ca, min, max] = [one('ca-file'), versions[one('ssl-min-ver') ?? ''], versions[one('ssl-max-ver') ?? '']];
  const tls = {
    ...pairs[0],
    ...(pairs.length > 1 && { certificates: pairs.slice(1) }),
    ...(min !== undefined && { minVersion: min }),
    ...(max !== undefined && { maxVersion: max }),
    ...(mode !== undefined && { clientAuth: { mode, ...(ca !== undefined && { ca: `{{secret:file:${ca}}}` }) } }),
  };
  return { tls, ...(one('alpn')?.split(',').includes('h2') && { http2: true }) };
}

function timeoutsOf(section: Section): ModelFields {
  const head = section.timeout('http-request');
  const idle = section.timeout('http-keep-alive') ?? section.timeout('client');
  const tunnel = section.timeout('tunnel');
  return {
    ...(head !== undefined && { clientHeader: head }),
    ...(idle !== undefined && { idleBetweenRequests: idle }),
    ...(tunnel !== undefined && { idleTunnel: tunnel }),
  };
}
