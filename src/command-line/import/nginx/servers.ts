// Servers of nginx: where they listen, under which names, and their listeners in Sluice.

import type { Ledger } from '../import-ledger.ts';
import type { ImportedListener, ModelFields } from '../intermediate.ts';
import { nginxBodyBytesMax, regexProblem } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import { Scope } from './scope.ts';
import type { Upstreams } from './upstream-blocks.ts';

interface Listen {
  /** Name of the listener. */
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly hasHttp2: boolean;
  readonly hasProxyProtocol: boolean;
  readonly isDefault: boolean;
  readonly from: Statement;
}

export interface NginxServer {
  readonly scope: Scope;
  readonly listens: readonly Listen[];
  /** Exact names and `*.suffix`. */
  readonly names: readonly string[];
  /** Conditions on the host, for names that are expressions or end in a wildcard. */
  readonly conditions: readonly string[];
  readonly upstreams: Upstreams;
}

export function serversOf(http: Scope, upstreams: Upstreams): NginxServer[] {
  return http.own('server').map((statement) => {
    const scope = new Scope(statement, http.ledger, http);
    const given = scope.own('listen').flatMap((each) => listenOf(each, scope));
    const names = scope.own('server_name').flatMap((each) => namesOf(each, scope.ledger));
    return {
      scope,
      listens: given.length > 0 ? given : [{ ...usual, from: statement }],
      names: names.flatMap(({ name }) => name ?? []),
      conditions: names.flatMap(({ condition }) => condition ?? []),
      upstreams,
    };
  });
}

const usual = {
  name: 'port-80',
  address: '0.0.0.0',
  port: 80,
  isSecure: false,
  hasHttp2: false,
  hasProxyProtocol: false,
  isDefault: false,
};

function listenOf(statement: Statement, { ledger }: Scope): Listen[] {
  const [where = '', ...words] = statement.words;
  if (where.startsWith('unix:')) {
    ledger.notTaken(statement, 'listeners are on TCP', 'a port of 127.0.0.1');
    return [];
  }
  if (words.includes('quic')) ledger.notTaken(statement, 'HTTP/3 is not spoken', 'HTTP/2');
  const [, host, port] = /^(?:(\[[^\]]*\]|[^:]*):)?(\d+)$/.exec(where) ?? /^(\[[^\]]*\]|[^:]+)()$/.exec(where) ?? [];
  const number = port === undefined || port === '' ? 80 : Number(port);
  const bare = (host ?? '').replace(/^\[|\]$/g, '');
  const address =
    bare === '' || bare === '*' ? '0.0.0.0' : bare === '::' ? '::' : bare === 'localhost' ? '127.0.0.1' : bare;
  if (words.some((each) => !/^(ssl|http2|default_server|default|proxy_protocol|quic)$/.test(each)))
    ledger.approximated(statement, 'options of the socket are those of Sluice');
  return [
    {
      name: `port-${number}${address === '0.0.0.0' ? '' : `-${address.replaceAll(':', '.')}`}`,
      address,
      port: number,
      isSecure: words.includes('ssl'),
      hasHttp2: words.includes('http2'),
      hasProxyProtocol: words.includes('proxy_protocol'),
      isDefault: words.some((each) => each === 'default_server' || each === 'default'),
      from: statement,
    },
  ];
}

function namesOf(statement: Statement, ledger: Ledger): { readonly name?: string; readonly condition?: string }[] {
  return statement.words.flatMap((word): { readonly name?: string; readonly condition?: string }[] => {
    if (word === '_' || word === '') return [];
    if (word.startsWith('.')) return [{ name: word.slice(1) }, { name: `*${word}` }];
    if (word.startsWith('~')) {
      const pattern = word.slice(1).replace(/\(\?<([A-Za-z0-9_]+)>/g, '(?P<$1>');
      const problem = regexProblem(pattern);
      if (problem !== undefined) ledger.notTaken(statement, problem, 'names without it');
      return problem === undefined ? [{ condition: `request.host.matches(${JSON.stringify(pattern)})` }] : [];
    }
    if (word.endsWith('.*')) return [{ condition: `request.host.startsWith(${JSON.stringify(word.slice(0, -1))})` }];
    return [{ name: word.toLowerCase() }];
  });
}

/** Listeners of all servers: those of one address and port are one. */
export function listenersOf(servers: readonly NginxServer[], ledger: Ledger): ImportedListener[] {
  const all = servers.flatMap((server) => server.listens.map((listen) => ({ listen, server })));
  return [...Map.groupBy(all, ({ listen }) => listen.name)].flatMap(([name, group]): ImportedListener[] => {
    const first = group.find(({ listen }) => listen.isDefault) ?? group[0];
    if (first === undefined) return [];
    const { address, port } = first.listen;
    // A socket of all IPv6 addresses takes IPv4 by itself, and would be the same port twice.
    if (address === '::' && all.some(({ listen }) => listen.port === port && listen.address === '0.0.0.0')) {
      ledger.approximated(
        first.listen.from,
        'the listener of 0.0.0.0 serves; IPv6 has to be opened by an address of its own',
      );
      return [];
    }
    const trusted = first.server.scope.all('set_real_ip_from').flatMap(({ words }) => words[0] ?? []);
    const isProxied = group.some(({ listen }) => listen.hasProxyProtocol);
    const tls = group.some(({ listen }) => listen.isSecure)
      ? tlsOf(
          group.map(({ server }) => server),
          first.server,
        )
      : undefined;
    const hasHttp2 = group.some(({ listen, server }) => listen.hasHttp2 || server.scope.word('http2') === 'on');
    for (const each of first.server.scope.all('real_ip_header'))
      if (!/^(x-forwarded-for|proxy_protocol)$/i.test(each.words[0] ?? ''))
        ledger.notTaken(each, 'addresses come by X-Forwarded-For', 'X-Forwarded-For');
    return [
      {
        name,
        from: first.listen.from,
        fields: {
          address,
          port,
          ...(tls !== undefined && { tls }),
          ...(hasHttp2 && { http2: true }),
          ...(trusted.length > 0 && { trustedProxies: trusted }),
          maxRequestBodyBytes: nginxBodyBytesMax,
          ...(isProxied && trusted.length > 0 && { proxyProtocol: 'required' }),
        },
      },
    ];
  });
}

function tlsOf(servers: readonly NginxServer[], first: NginxServer): ModelFields {
  const file = (path: string | undefined) => (path === undefined ? undefined : `{{secret:file:${path}}}`);
  const pairs = servers.flatMap(({ scope, names }) => {
    const [cert, key] = [file(scope.word('ssl_certificate')), file(scope.word('ssl_certificate_key'))];
    return cert === undefined || key === undefined
      ? []
      : [{ cert, key, ...(names.length > 0 && { serverNames: names }) }];
  });
  const own = first.scope;
  const [cert, key] = [
    file(own.word('ssl_certificate')) ?? pairs[0]?.cert,
    file(own.word('ssl_certificate_key')) ?? pairs[0]?.key,
  ];
  const versions = own.all('ssl_protocols').flatMap(({ words }) => words);
  const known = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'].filter((each) => versions.includes(each));
  const spelled = (version: string) => (version === 'TLSv1' ? 'TLSv1_0' : version.replace('.', '_'));
  const mode = { on: 'require', optional: 'optional', optional_no_ca: 'unverified' }[
    own.word('ssl_verify_client') ?? ''
  ];
  const ca = file(own.word('ssl_client_certificate'));
  return {
    cert,
    key,
    ...(pairs.length > 1 && { certificates: pairs }),
    ...(known.length > 0 && { minVersion: spelled(known[0] ?? ''), maxVersion: spelled(known.at(-1) ?? '') }),
    ...(mode !== undefined && { clientAuth: { mode, ...(ca !== undefined && { ca }) } }),
  };
}
