// Importer of Caddy's JSON: servers of the app http, with their routes in order.
import { failed } from '../../exit.ts';
import { placeText } from '../../input/fault.ts';
import { Fields } from '../fields.ts';
import type { Ledger } from '../import-ledger.ts';
import type { Importer } from '../importer.ts';
import type { ImportedConfig, ImportedListener, ImportedRoute } from '../intermediate.ts';
import type { Statement } from '../statement.ts';
import { yamlStatements } from '../yaml-statements.ts';
import { serverRoutes } from './flattened-routes.ts';

export const caddy: Importer = {
  parse: (files) =>
    files.flatMap((file) => {
      const roots = yamlStatements(file);
      // YAML takes what is no JSON; a Caddyfile is a text in YAML, for instance.
      for (const root of roots)
        if (root.words.length > 0)
          throw failed(`${placeText(root.place)}  is no JSON of Caddy: caddy adapt makes it of a Caddyfile`);
      return roots;
    }),
  map: mapped,
};

const differences = [
  'Upstreams get X-Forwarded-For, -Proto and -Host of Sluice, no Via, and no Accept-Encoding and User-Agent of the proxy.',
  'Paths are compared with their case, where Caddy has none; a redirect has no body, an error the body of Sluice.',
  'A host with a wildcard in front stands for one label or more, where Caddy takes one.',
  'What no route of a server answers gets 200 without a body, as from Caddy.',
];

function mapped(roots: readonly Statement[], ledger: Ledger): ImportedConfig {
  const listeners: ImportedListener[] = [];
  const routes: ImportedRoute[] = [];
  for (const root of roots) {
    const document = new Fields(root, ledger);
    for (const key of ['admin', 'logging', 'storage']) document.approximated(key, 'is of the process of Caddy');
    const apps = document.child('apps');
    for (const key of apps?.keys ?? [])
      if (key !== 'http' && key !== 'tls')
        apps?.notTaken(key, 'only the apps http and tls are read', 'streamRoutes for connections');
    const tls = apps?.child('tls');
    for (const key of ['automation', 'certificates', 'session_tickets', 'cache'])
      tls?.notTaken(key, 'certificates are not ordered and not copied', 'tls of the listener');
    const http = apps?.child('http');
    for (const key of ['http_port', 'https_port', 'grace_period', 'shutdown_delay', 'metrics'])
      http?.approximated(key, 'is of the process of Caddy');
    const servers = http?.child('servers');
    for (const name of servers?.keys ?? []) {
      const server = servers?.child(name);
      if (server === undefined) continue;
      const own = server.texts('listen').flatMap((address) => listenerOf(address, server));
      for (const each of own)
        if (!listeners.some(({ fields }) => fields.port === each.fields.port)) listeners.push(each);
      withoutEffect(server);
      routes.push(
        ...serverRoutes(
          name,
          server,
          own.map((each) => each.name),
        ),
      );
    }
  }
  return {
    listeners,
    routes: listeners.length > 1 ? routes : routes.map(({ listeners: _, ...rest }) => rest),
    differences,
  };
}

function listenerOf(address: string, server: Fields): ImportedListener[] {
  const [, host = '', port] = /^(?:tcp\/)?(\[[^\]]*\]|[^:]*):(\d+)$/.exec(address) ?? [];
  if (port === undefined) {
    server.notTaken('listen', 'only one port of TCP is a listener', 'a listener for each port');
    return [];
  }
  const secure = server.find('tls_connection_policies') !== undefined;
  const files = '{{secret:file:/etc/sluice/secrets/caddy';
  return [
    {
      name: `port-${port}`,
      from: server.statement,
      fields: {
        ...(host !== '' && { address: host.replace(/^\[|\]$/g, '') }),
        port: Number(port),
        ...(secure && { http2: true, tls: { cert: `${files}.crt}}`, key: `${files}.key}}` } }),
      },
    },
  ];
}

function withoutEffect(server: Fields): void {
  for (const key of [
    'read_timeout',
    'read_header_timeout',
    'write_timeout',
    'idle_timeout',
    'max_header_bytes',
    'keepalive_interval',
    'protocols',
    'logs',
    'experimental_http3',
    'enable_full_duplex',
  ])
    server.approximated(key, 'the listener has limits and logs of its own');
  server.approximated('automatic_https', 'certificates are not ordered, and http is not sent to https by itself');
  server.approximated(
    'tls_connection_policies',
    'put the certificate into /etc/sluice/secrets/caddy.crt and .key of each node',
  );
  server.notTaken('errors', 'no routes answer errors', 'errorPages of the listener');
  server.notTaken('trusted_proxies', 'is set by ranges', 'trustedProxies of the listener');
  server.notTaken('listener_wrappers', 'is of the listener', 'proxyProtocol of the listener');
  server.notTaken('client_ip_headers', 'addresses come by X-Forwarded-For', 'trustedProxies of the listener');
}
