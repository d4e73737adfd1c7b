// Importer of ingress-nginx: Ingresses with their annotations, the ConfigMap of the controller, and Services for names of ports.
import { Fields } from '../fields.ts';
import type { Ledger } from '../import-ledger.ts';
import type { Importer } from '../importer.ts';
import type { ImportedConfig, ImportedListener, ImportedRoute, ModelFields } from '../intermediate.ts';
import { nothingElse } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import { yamlStatements } from '../yaml-statements.ts';
import { controllerDefaults, type Defaults, listenerFields } from './config-map.ts';
import { Ingress, type Services } from './ingress.ts';
import { secretFile } from './ingress-middlewares.ts';
import { ingressRoutes, rankOf } from './ingress-routes.ts';
import { withoutSecrets } from './secret-objects.ts';

export const ingressNginx: Importer = {
  parse: (files) => files.flatMap(yamlStatements).map(withoutSecrets),
  map: mapped,
};

const differences = [
  'Upstreams get X-Forwarded-For, -Proto and -Host, not X-Real-IP, X-Request-ID, X-Scheme, X-Forwarded-Port and X-Forwarded-Scheme.',
  'Requests that fail to connect are not tried again unless an annotation says so.',
];

function mapped(roots: readonly Statement[], ledger: Ledger): ImportedConfig {
  const objects = roots.flatMap((root) => objectsOf(new Fields(root, ledger)));
  const services: Services = new Map(objects.filter((each) => kindOf(each) === 'Service').flatMap(portsOf));
  const defaults: Defaults = Object.fromEntries(
    objects.filter((each) => kindOf(each) === 'ConfigMap').flatMap((each) => Object.entries(controllerDefaults(each))),
  );
  const ingresses = objects
    .filter((each) => kindOf(each) === 'Ingress')
    .map((each) => new Ingress(each, services, defaults));
  for (const each of objects)
    if (!['Ingress', 'ConfigMap', 'Service'].includes(kindOf(each) ?? ''))
      ledger.notTaken(
        each.statement,
        `kind ${kindOf(each) ?? 'without a name'} is not read`,
        'give Ingresses, ConfigMaps and Services',
      );
  const fields = listenerFields(defaults);
  const routes = ingressRoutes(ingresses);
  const hasTls = ingresses.some(({ tls }) => tls.length > 0);
  return {
    listeners: hasTls ? [plain(roots, fields), secure(ingresses, fields)] : [plain(roots, fields)],
    routes: [...routes, ...ends(routes)],
    differences,
  };
}

const kindOf = (object: Fields): string | undefined => object.text('kind');

/** Objects of a document, those of a List by themselves. */
function objectsOf(document: Fields): Fields[] {
  document.text('apiVersion');
  const kind = document.text('kind');
  if (kind === undefined || !kind.endsWith('List')) return [document];
  const metadata = document.find('metadata');
  if (metadata !== undefined) document.ledger.approximated(metadata, 'is of Kubernetes');
  return document.list('items').flatMap(objectsOf);
}

function portsOf(service: Fields): [string, number][] {
  service.ledger.takenWhole(service.statement);
  const name = service.at('metadata')?.text('name') ?? '';
  const namespace = service.at('metadata')?.text('namespace') ?? 'default';
  return (service.at('spec')?.list('ports') ?? []).flatMap((each): [string, number][] => {
    const [label, port] = [each.text('name'), each.number('port')];
    return label === undefined || port === undefined ? [] : [[`${namespace}/${name}/${label}`, port]];
  });
}

const plain = ([first]: readonly Statement[], fields: ModelFields): ImportedListener => ({
  name: 'http',
  from: first as Statement,
  fields: { port: 80, ...fields },
});

/** Certificates by the hosts that ask for them; the first one also serves clients that name no server. */
function secure(ingresses: readonly Ingress[], fields: ModelFields): ImportedListener {
  const all = ingresses.flatMap(({ tls, namespace }) => tls.map((each) => ({ ...each, namespace })));
  const pairs = all.map(({ secret, hosts, namespace }) => ({
    cert: `{{secret:file:${secretFile(namespace, secret, '.crt')}}}`,
    key: `{{secret:file:${secretFile(namespace, secret, '.key')}}}`,
    ...(hosts.length > 0 && { serverNames: hosts }),
  }));
  const [first] = pairs;
  const [{ from } = { from: undefined }] = all;
  return {
    name: 'https',
    from: from as Statement,
    fields: { port: 443, http2: true, ...fields, tls: { cert: first?.cert, key: first?.key, certificates: pairs } },
  };
}

/** Returns a route for each host that answers what its paths do not take: nginx goes on to no path of any host. */
function ends(routes: readonly ImportedRoute[]): ImportedRoute[] {
  const byHost = Map.groupBy(routes, ({ hosts }) => hosts[0] ?? '');
  return [...byHost].flatMap(([host, own]) =>
    host === '' || own.some(({ path, match }) => match === undefined && /^(\(\?i\))?\/$/.test(path?.text ?? ''))
      ? []
      : [nothingElse(own[0]?.from as Statement, host, rankOf(host, undefined))],
  );
}
