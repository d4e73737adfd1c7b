// Importer of decK files: services, routes, upstreams, plugins, consumers and certificates of Kong.
import { Fields } from '../fields.ts';
import type { Ledger } from '../import-ledger.ts';
import type { Importer } from '../importer.ts';
import type { ImportedConfig, ImportedListener, ImportedRoute } from '../intermediate.ts';
import { allBelow, type Statement } from '../statement.ts';
import { yamlStatements } from '../yaml-statements.ts';
import { type Consumer, consumerOf, groupsNamedIn } from './consumers.ts';
import { ofKong, withoutEffect } from './kong-fields.ts';
import { Plugins } from './plugins.ts';
import { kongRoutes } from './routes.ts';
import { destinationOf, type Upstreams, upstreamOf } from './upstream-destinations.ts';

export const kong: Importer = {
  parse: (files) => files.flatMap(yamlStatements),
  map: mapped,
};

const differences = [
  'Answers of the proxy itself have bodies of Sluice: 404 where no route matches, 502 to 504 where an upstream fails.',
  'Upstreams get X-Forwarded-For, -Proto and -Host, not X-Real-IP, X-Forwarded-Port, -Path and -Prefix, and no Via.',
  'A failed connection is tried again only where retries are given, and none is unless the service names them.',
  'There is a listener of TLS (8443) where the files have a certificate; Kong makes one of its own where they have none.',
];

function mapped(roots: readonly Statement[], ledger: Ledger): ImportedConfig {
  const documents = roots.map((root) => new Fields(root, ledger));
  for (const root of roots)
    for (const each of allBelow(root))
      if (each.words.some((word) => word.includes('${{')))
        ledger.notTaken(each, 'is a variable of decK', 'deck file render, and import what it prints');
  for (const document of documents) {
    document.text('_format_version');
    document.text('_transform');
    for (const key of ['_info', '_workspace', '_konnect', '_plugin_configs']) document.approximated(key, ofKong);
    for (const key of ['consumer_groups', 'vaults', 'licenses', 'ca_certificates', 'rbac_roles'])
      document.notTaken(key, 'has no counterpart', 'middlewares, secrets and tls of listeners and destinations');
  }
  const all = (key: string) => documents.flatMap((document) => document.list(key));
  const upstreams: Upstreams = new Map(all('upstreams').map(upstreamOf));
  const consumers = all('consumers').map((fields) => consumerOf(fields, groupsNamedIn(roots)));
  const plugins = new Plugins(all('plugins'), consumers);
  const services = all('services').map((fields) => ({
    fields,
    name: fields.text('name') ?? 'service',
    ...destinationOf(fields, upstreams),
    plugins: fields.list('plugins'),
  }));
  const listeners = listenersOf(roots, all('certificates'));
  const routes: ImportedRoute[] = [
    ...services.flatMap((service) =>
      service.fields.list('routes').flatMap((route) => kongRoutes(route, service, plugins, listeners.length > 1)),
    ),
    ...all('routes').flatMap((route) => {
      const name = route.at('service')?.text('name') ?? route.text('service');
      return kongRoutes(
        route,
        services.find((each) => each.name === name),
        plugins,
        listeners.length > 1,
      );
    }),
  ];
  for (const service of services) withoutEffect(service.fields);
  return { listeners, routes, consumers: identities(consumers), differences };
}

const identities = (consumers: readonly Consumer[]) => consumers.filter(({ fields }) => Object.keys(fields).length > 0);

function listenersOf([first]: readonly Statement[], certificates: readonly Fields[]): ImportedListener[] {
  const from = first as Statement;
  const plain: ImportedListener = { name: 'http', from, fields: { port: 8000 } };
  const pairs = certificates.map((fields, at) => {
    withoutEffect(fields);
    const names = fields.list('snis').flatMap((each) => {
      withoutEffect(each);
      return each.text('name') ?? (each.statement.children.length === 0 ? (each.value ?? []) : []);
    });
    const file = `/etc/sluice/secrets/${(names[0] ?? `certificate-${at + 1}`).replace('*.', 'any.')}`;
    for (const key of ['cert', 'key', 'cert_alt', 'key_alt'])
      fields.approximated(key, `put it into ${file}.${key.startsWith('cert') ? 'crt' : 'key'} of each node`);
    return {
      cert: `{{secret:file:${file}.crt}}`,
      key: `{{secret:file:${file}.key}}`,
      ...(names.length > 0 && { serverNames: names }),
    };
  });
  const [pair] = pairs;
  if (pair === undefined) return [plain];
  const tls = { cert: pair.cert, key: pair.key, certificates: pairs };
  return [plain, { name: 'https', from: certificates[0]?.statement ?? from, fields: { port: 8443, http2: true, tls } }];
}
