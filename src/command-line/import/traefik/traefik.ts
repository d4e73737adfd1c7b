// Importer of Traefik's dynamic configuration: routers, services and middlewares of HTTP, and certificates.
import { Fields } from '../fields.ts';
import type { Ledger } from '../import-ledger.ts';
import type { Importer } from '../importer.ts';
import type { ImportedConfig, ImportedListener, ImportedRoute } from '../intermediate.ts';
import type { Statement } from '../statement.ts';
import { yamlStatements } from '../yaml-statements.ts';
import { type Effect, effectOf } from './middlewares.ts';
import { routerRoutes } from './routers.ts';
import { Services } from './service-shares.ts';

export const traefik: Importer = {
  parse: (files) => files.flatMap(yamlStatements),
  map: mapped,
};

const differences = [
  'Entry points are of the static configuration: web is taken as port 80 and websecure, or any with tls, as port 443.',
  'Upstreams get X-Forwarded-For, -Proto and -Host, not X-Forwarded-Port, X-Forwarded-Server and X-Real-IP.',
  'Paths are compared in one canonical form, with dot segments resolved and slashes merged.',
];

function mapped(roots: readonly Statement[], ledger: Ledger): ImportedConfig {
  const documents = roots.map((root) => new Fields(root, ledger));
  for (const document of documents) {
    document.notTaken('tcp', 'connections are declared otherwise', 'a listener of protocol tcp, and streamRoutes');
    document.notTaken('udp', 'UDP is not proxied');
    for (const key of [
      'entryPoints',
      'providers',
      'api',
      'log',
      'accessLog',
      'metrics',
      'certificatesResolvers',
      'tracing',
      'experimental',
    ])
      document.notTaken(key, 'is of the static configuration', 'listeners, and the settings of the node');
  }
  const http = documents.flatMap((document) => document.child('http') ?? []);
  const effects = new Map<string, Effect>();
  for (const each of http)
    for (const key of each.child('middlewares')?.keys ?? []) {
      const fields = each.child('middlewares')?.child(key);
      if (fields !== undefined && fields.keys[0] !== 'chain') effects.set(key, effectOf(key, fields));
    }
  const chains = new Map<string, readonly string[]>();
  for (const each of http)
    for (const key of each.child('middlewares')?.keys ?? []) {
      const chain = each.child('middlewares')?.child(key)?.child('chain');
      if (chain !== undefined) chains.set(key, chain.texts('middlewares'));
    }
  const services = new Services(http);
  const routers = http.flatMap((each) =>
    (each.child('routers')?.keys ?? []).flatMap((key) => {
      const fields = each.child('routers')?.child(key);
      return fields === undefined ? [] : [{ key, fields }];
    }),
  );
  const isSecure = (fields: Fields) =>
    fields.find('tls') !== undefined || fields.texts('entryPoints').includes('websecure');
  const pairs = documents.flatMap(certificates);
  const hasSecure = routers.some(({ fields }) => isSecure(fields));
  const listeners: ImportedListener[] = [{ name: 'web', from: roots[0] as Statement, fields: { port: 80 } }];
  if (hasSecure) {
    const first = pairs[0] ?? {
      cert: '{{secret:file:/etc/sluice/secrets/default.crt}}',
      key: '{{secret:file:/etc/sluice/secrets/default.key}}',
    };
    listeners.push({
      name: 'websecure',
      from: roots[0] as Statement,
      fields: { port: 443, http2: true, tls: { ...first, ...(pairs.length > 1 && { certificates: pairs }) } },
    });
  }
  const routes: ImportedRoute[] = routers.flatMap(({ key, fields }) =>
    routerRoutes(key, fields, isSecure(fields), { effects, chains, services, hasSecure }),
  );
  return { listeners, routes, differences };
}

function certificates(document: Fields): { readonly cert: string; readonly key: string }[] {
  const tls = document.child('tls');
  tls?.notTaken('options', 'is of each listener', 'tls.minVersion and tls.clientAuth of the listener');
  const stores = tls?.child('stores')?.child('default')?.child('defaultCertificate');
  tls?.child('stores')?.child('default')?.notTaken('defaultGeneratedCert', 'certificates are not ordered');
  return [...(stores === undefined ? [] : [stores]), ...(tls?.list('certificates') ?? [])].flatMap((each) => {
    const [cert, key] = [each.text('certFile'), each.text('keyFile')];
    each.approximated('stores', 'there is one store');
    return cert === undefined || key === undefined
      ? []
      : [{ cert: `{{secret:file:${cert}}}`, key: `{{secret:file:${key}}}` }];
  });
}
