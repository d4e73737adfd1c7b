// Columns of resources in tables, kind by kind: what a person looks for first.
import type { EditableKind } from '../../model/kinds.ts';
import type { Entity } from '../entities.ts';
import type { Column } from './text-table.ts';

type Fields = Readonly<Record<string, unknown>>;

const record = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

const name: Column<Entity> = { title: 'name', cell: (entity) => entity.name };
const last: readonly Column<Entity>[] = [
  { title: 'owner', cell: ({ owner }) => owner ?? '' },
  {
    title: 'labels',
    isWide: true,
    cell: ({ labels = {} }) =>
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(','),
  },
  { title: 'id', isWide: true, cell: ({ id }) => id },
];

const own: Readonly<Record<EditableKind, readonly Column<Entity>[]>> = {
  listeners: [
    { title: 'address', cell: ({ address, port }) => `${address ?? '0.0.0.0'}:${port}` },
    { title: 'tls', cell: ({ tls }) => (tls === undefined ? '' : 'yes') },
    { title: 'http2', cell: ({ http2 }) => (http2 === true ? 'yes' : '') },
  ],
  destinations: [
    { title: 'host', cell: ({ host, port }) => `${host}:${port}` },
    { title: 'endpoints', isNumber: true, cell: ({ endpoints }) => text(list(endpoints).length || 1) },
    { title: 'tls', cell: ({ options }) => text(record(record(options).tls).mode) },
  ],
  routes: [
    { title: 'match', cell: ({ match }) => matchText(record(match)) },
    {
      title: 'action',
      cell: (route) => (route.disabled === true ? `disabled: ${actionText(route)}` : actionText(route)),
    },
    { title: 'middlewares', isWide: true, cell: ({ middlewareIds }) => list(middlewareIds).join(',') },
  ],
  groups: [
    { title: 'path', cell: ({ pathPrefix, pathRegex }) => text(pathPrefix ?? pathRegex) },
    { title: 'hostnames', cell: ({ hostnames }) => list(hostnames).join(',') },
    { title: 'routes', isNumber: true, cell: ({ routeIds }) => text(list(routeIds).length) },
  ],
  middlewares: [{ title: 'type', cell: ({ type }) => text(type) }],
  streamRoutes: [
    { title: 'match', cell: ({ match }) => [record(match).listenerIds, record(match).sni].flatMap(list).join(',') },
    { title: 'action', cell: actionText },
  ],
  consumers: [
    {
      title: 'credentials',
      cell: ({ credentials }) => [...new Set(list(credentials).map((each) => text(record(each).type)))].join(','),
    },
  ],
  secrets: [],
};

export const columnsOf = (kind: EditableKind): readonly Column<Entity>[] => [name, ...own[kind], ...last];

/** `GET,POST shop.example /cart*` */
function matchText(match: Fields): string {
  const { path, pathPrefix, pathRegex, methods, hostnames } = match;
  const parts = [
    list(methods).join(','),
    list(hostnames).join(','),
    path !== undefined ? text(path) : pathRegex !== undefined ? `~${pathRegex}` : `${pathPrefix ?? '/'}*`,
  ];
  const others = Object.keys(match).filter(
    (key) => !['path', 'pathPrefix', 'pathRegex', 'methods', 'hostnames'].includes(key),
  );
  return [...parts, ...others.map((key) => `+${key}`)].filter((part) => part !== '').join(' ');
}

/** `→ cart 90, cart-v2 10`, `301 https://…`, `200` */
function actionText({ forward, redirect, directResponse }: Entity): string {
  if (forward !== undefined) {
    const targets = list(record(forward).destinations).map(record);
    const named = targets.map(({ destinationId, directResponse: fixed, weight }) =>
      [text(destinationId ?? record(fixed).status), ...(targets.length > 1 ? [text(weight ?? 0)] : [])].join(' '),
    );
    return `→ ${named.join(', ')}`;
  }
  if (redirect !== undefined) {
    const { code = 301, url, scheme, host, path } = record(redirect);
    return `${code} ${url ?? [scheme && `${scheme}://`, host, path].filter(Boolean).join('')}`.trim();
  }
  return text(record(directResponse).status);
}
