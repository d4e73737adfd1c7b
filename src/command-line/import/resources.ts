// Resources of an imported configuration: names, shared destinations and middlewares, priorities of ranks.

import { quoteRegex } from '../../expression/regex.ts';
import type { EditableKind } from '../../model/kinds.ts';
import type {
  Imported,
  ImportedConfig,
  ImportedMiddleware,
  ImportedRoute,
  ModelFields,
  PathMatch,
  Share,
} from './intermediate.ts';
import type { Statement } from './statement.ts';

export interface ImportedResource {
  readonly kind: EditableKind;
  readonly name: string;
  readonly fields: ModelFields;
  readonly from: Statement;
}

export interface NamedRoute {
  readonly name: string;
  readonly route: ImportedRoute;
  /** Names of its listeners; empty: all. */
  readonly listeners: readonly string[];
  /** Names of its destinations. */
  readonly destinations: readonly string[];
}

/** Steps between priorities, so that a route may be put between two. */
const priorityStep = 10;

/** Names and fields of all resources that the configuration stands for. */
export class ResourceSet {
  readonly resources: ImportedResource[] = [];
  readonly routes: NamedRoute[] = [];
  readonly #taken = new Set<string>();
  /** Names of resources by kind, wished name and content. */
  readonly #shared = new Map<string, string>();

  constructor(config: ImportedConfig) {
    const listeners = new Map<string, string>();
    for (const each of config.listeners) listeners.set(each.name, this.#add('listeners', each, each.fields));
    const named = (names: readonly string[] | undefined) => (names ?? []).map((name) => listeners.get(name) ?? name);
    for (const each of config.consumers ?? []) this.#add('consumers', each, each.fields);
    const priorityOf = prioritiesOf(config.routes);
    for (const route of config.routes) this.#route(route, priorityOf(route), named(route.listeners));
    for (const { match, shares, fields, ...each } of config.streamRoutes ?? []) {
      const listenerIds = named(each.listeners);
      this.#add('streamRoutes', each, {
        match: { ...match, ...(listenerIds.length > 0 && { listenerIds }) },
        forward: { destinations: this.#destinations(shares).list, ...fields },
      });
    }
  }

  #route(route: ImportedRoute, priority: number, listeners: readonly string[]): void {
    const { hosts, path, match, forward, redirect, directResponse, errorPages, maxRequestBodyBytes } = route;
    const { list = [], names = [] } = forward === undefined ? {} : this.#destinations(forward.shares);
    const middlewareIds = [...new Set(route.middlewares.map((each) => this.#middleware(each)))];
    const fields: ModelFields = {
      match: { ...pathFields(path), ...(hosts.length > 0 && { hostnames: hosts }), ...match },
      ...(priority > 0 && { priority }),
      ...(listeners.length > 0 && { listenerIds: listeners }),
      ...(middlewareIds.length > 0 && { middlewareIds }),
      ...(forward !== undefined && { forward: { destinations: list, ...forward.fields } }),
      ...(redirect !== undefined && { redirect }),
      ...(directResponse !== undefined && { directResponse }),
      ...(errorPages !== undefined && errorPages.length > 0 && { errorPages }),
      ...(maxRequestBodyBytes !== undefined && { maxRequestBodyBytes }),
    };
    this.routes.push({ name: this.#add('routes', route, fields), route, listeners, destinations: names });
  }

  #middleware(imported: ImportedMiddleware): string {
    const { type, block, uses } = imported;
    const reference = uses && { [uses.field]: this.#share('destinations', uses.destination, uses.destination.fields) };
    return this.#share('middlewares', imported, { type, [type]: { ...reference, ...block } });
  }

  #destinations(shares: readonly Share[]): { readonly list: ModelFields[]; readonly names: string[] } {
    const names = shares.map(({ destination }) => this.#share('destinations', destination, destination.fields));
    const list = names.map((destinationId, at) => {
      const share = shares[at];
      return { destinationId, ...(shares.length > 1 && { weight: share?.weight ?? 1 }), ...share?.fields };
    });
    return { list, names };
  }

  /** Resources of one name and content are one. */
  #share(kind: EditableKind, imported: Imported, fields: ModelFields): string {
    const key = JSON.stringify([kind, imported.name, fields]);
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const name = this.#add(kind, imported, fields);
    this.#shared.set(key, name);
    return name;
  }

  #add(kind: EditableKind, { name: wished, from }: Imported, fields: ModelFields): string {
    const name = this.#free(kind, idText(wished));
    this.resources.push({ kind, name, fields: { name, ...fields }, from });
    return name;
  }

  #free(kind: EditableKind, wished: string): string {
    let name = wished;
    for (let count = 2; this.#taken.has(`${kind} ${name}`); count += 1) name = `${wished}-${count}`;
    this.#taken.add(`${kind} ${name}`);
    return name;
  }
}

/** Text of letters that ids have, so that names are ids. */
const idText = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9._~:-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[-.]+|-+$/g, '')
    .slice(0, 100) || 'unnamed';

function pathFields(path: PathMatch | undefined): ModelFields {
  if (path === undefined) return {};
  if (path.is === 'exact') return { path: path.text };
  if (path.is === 'prefix' || path.text === '/') return { pathPrefix: path.text };
  return { pathRegex: path.is === 'begins' ? quoteRegex(path.text) : path.text };
}

function prioritiesOf(routes: readonly ImportedRoute[]): (route: ImportedRoute) => number {
  const ranks = new Map(routes.map(({ rank }) => [rank.join(' '), rank]));
  const sorted = [...ranks.values()].sort(compareRanks).map((rank) => rank.join(' '));
  const places = new Map(sorted.map((rank, at) => [rank, at * priorityStep]));
  return ({ rank }) => places.get(rank.join(' ')) ?? 0;
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
