// Lists of the kinds that have no page of their own form: a searched table, one resource, the editor.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Editor } from '../editor/editor.tsx';
import { useCollection, useCollections } from '../lib/collection.ts';
import { refersTo, secretsOf } from '../lib/entity-references.ts';
import { ago, counted, moment } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import type { Slug } from '../lib/pages.ts';
import { go, query } from '../lib/router.ts';
import { certificates, fleet, refusal } from '../lib/store.ts';
import { type EditedKind, type Entity, nounOf } from '../lib/types.ts';
import { Act, Badge, Empty, PageLink, Problem } from '../parts/basics.tsx';
import { Search } from '../parts/filters.tsx';
import { type Column, VirtualTable } from '../parts/virtual-table.tsx';
import { Endpoints } from './endpoints.tsx';
import { History } from './history.tsx';

interface Described {
  readonly title: string;
  readonly width: number;
  readonly of: (entity: Entity) => ComponentChildren;
}

const text = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

const countOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

/** Kinds that refer to others. */
const holders = ['routes', 'groups', 'streamRoutes', 'middlewares', 'destinations', 'listeners', 'consumers'] as const;
const usersMax = 200;

/** Returns the resources that refer to this one. */
function useUsers(kind: EditedKind, id: string): readonly { readonly kind: EditedKind; readonly entity: Entity }[] {
  const lists = useCollections(holders).map((collection) => collection.entities.value ?? []);
  return useMemo(
    () =>
      lists
        .flatMap((list, at) =>
          list
            .filter((entity) => refersTo(entity, kind, id))
            .map((entity) => ({ kind: holders[at] ?? 'routes', entity })),
        )
        .slice(0, usersMax),
    [...lists, id, kind],
  );
}

function EntityPage({
  kind,
  slug,
  columns,
  detail,
  base = {},
}: {
  readonly kind: EditedKind;
  readonly slug: Slug;
  readonly columns: readonly Described[];
  readonly detail?: (entity: Entity) => ComponentChildren;
  /** Part of every address of these pages. */
  readonly base?: Readonly<Record<string, string>>;
}) {
  const id = query.value.get('id') ?? undefined;
  const edit = query.value.get('edit') ?? undefined;
  if (edit !== undefined)
    return (
      <Editor
        key={edit}
        kind={kind}
        id={edit === '' ? undefined : edit}
        onDone={(done) => go(slug, done === undefined ? base : { ...base, id: done })}
      />
    );
  return id === undefined ? (
    <List {...{ kind, slug, columns, base }} />
  ) : (
    <One key={id} {...{ kind, slug, id, columns, detail, base }} />
  );
}

function List({
  kind,
  slug,
  columns,
  base,
}: {
  readonly base: Readonly<Record<string, string>>;
  readonly kind: EditedKind;
  readonly slug: Slug;
  readonly columns: readonly Described[];
}) {
  const { entities, error } = useCollection(kind);
  const [search, setSearch] = useState('');
  const list = entities.value;
  const rows = useMemo(() => {
    const words = search
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    return [...(list ?? [])]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .filter((entity) => {
        const all = JSON.stringify(entity).toLowerCase();
        return words.every((word) => all.includes(word));
      });
  }, [list, search]);
  const shown: readonly Column<Entity>[] = [
    {
      title: 'Name',
      width: 2,
      cell: ({ id, name }) => (
        <PageLink to={slug} query={{ ...base, id }}>
          {name}
        </PageLink>
      ),
    },
    ...columns.map(({ title, width, of }, at) => ({ title, width, cell: of, isExtra: at > 0 })),
  ];
  return (
    <>
      <div class="row filters">
        <Search label={`Search ${nounOf(kind)}s`} value={search} onSearch={setSearch} />
        <Act kind="main" refused={refusal('editor')} onAct={() => go(slug, { ...base, edit: '' })}>
          New {nounOf(kind)}
        </Act>
      </div>
      <Problem text={error.value} />
      <p class="about" role="status">
        {list === undefined ? 'Loading …' : counted(rows.length, nounOf(kind))}
      </p>
      <VirtualTable
        name={`${nounOf(kind).charAt(0).toUpperCase()}${nounOf(kind).slice(1)}s`}
        columns={shown}
        rows={rows}
        keyOf={({ id }) => id}
        onOpen={({ id }) => go(slug, { ...base, id })}
      />
    </>
  );
}

function One({
  kind,
  slug,
  id,
  columns,
  detail,
  base,
}: {
  readonly base: Readonly<Record<string, string>>;
  readonly kind: EditedKind;
  readonly slug: Slug;
  readonly id: string;
  readonly columns: readonly Described[];
  readonly detail?: ((entity: Entity) => ComponentChildren) | undefined;
}) {
  const { entities, error } = useCollection(kind);
  const users = useUsers(kind, id);
  const entity = entities.value?.find((each) => each.id === id);
  if (entities.value === undefined)
    return error.value === undefined ? <p>Loading …</p> : <Problem text={error.value} />;
  if (entity === undefined) return <Problem text={`This ${nounOf(kind)} is not staged any more.`} />;
  return (
    <>
      <div class="row title">
        <h2>{entity.name}</h2>
        <Act kind="main" refused={refusal('editor')} onAct={() => go(slug, { ...base, edit: id })}>
          {kind === 'secrets' ? 'Set value' : 'Edit'}
        </Act>
        <PageLink to={slug} query={base}>
          All {nounOf(kind)}s
        </PageLink>
      </div>
      <section class="card">
        <dl class="facts">
          <dt>Id</dt>
          <dd>
            <code>{id}</code>
          </dd>
          {columns.map(({ title, of }) => {
            const shown = of(entity);
            return shown === '' ? null : (
              <>
                <dt>{title}</dt>
                <dd>{shown}</dd>
              </>
            );
          })}
        </dl>
      </section>
      {detail?.(entity)}
      <section class="card">
        <h2>Used by</h2>
        {users.length === 0 ? (
          <Empty>Nothing refers to it.</Empty>
        ) : (
          <ul>
            {users.map(({ kind: of, entity: user }) => (
              <li key={`${of}/${user.id}`}>
                {nounOf(of)}{' '}
                <PageLink
                  to={of === 'streamRoutes' ? 'routes' : of}
                  query={{ ...(of === 'streamRoutes' && { kind: of }), id: user.id }}
                >
                  {user.name}
                </PageLink>
              </li>
            ))}
          </ul>
        )}
      </section>
      {kind !== 'secrets' && <History kind={kind} id={id} />}
    </>
  );
}

export function Destinations() {
  return (
    <EntityPage
      kind="destinations"
      slug="destinations"
      columns={[
        {
          title: 'Host',
          width: 2,
          of: ({ host, port }) => `${text(host)}${port === undefined ? '' : `:${text(port)}`}`,
        },
        { title: 'Endpoints', width: 1, of: ({ endpoints }) => countOf(endpoints) || 1 },
        { title: 'Owner', width: 1, of: ({ owner }) => owner ?? '' },
      ]}
      detail={({ id }) => <Endpoints id={id} />}
    />
  );
}

export function Middlewares() {
  return (
    <EntityPage
      kind="middlewares"
      slug="middlewares"
      columns={[
        { title: 'Type', width: 1, of: ({ type }) => text(type) },
        { title: 'Owner', width: 1, of: ({ owner }) => owner ?? '' },
      ]}
    />
  );
}

export function Consumers() {
  const typesOf = ({ credentials }: Entity): string => {
    const types = Array.isArray(credentials)
      ? credentials.map(({ type }: { readonly type?: unknown }) => text(type))
      : [];
    return [...new Set(types)].join(', ');
  };
  return (
    <EntityPage
      kind="consumers"
      slug="consumers"
      columns={[
        { title: 'Credentials', width: 2, of: typesOf },
        { title: 'Owner', width: 1, of: ({ owner }) => owner ?? '' },
      ]}
    />
  );
}

export function Listeners() {
  const proxies = useLive(fleet)?.proxies ?? [];
  const ends = useLive(certificates) ?? [];
  const daysOf = (name: string): string => {
    const days = ends.filter(({ listener }) => listener === name).map(({ daysLeft }) => daysLeft);
    return days.length === 0 ? '' : `${Math.min(...days)} days left`;
  };
  const stateOf = (id: string): ComponentChildren => {
    const states = proxies.flatMap(({ listeners }) => listeners.filter((listener) => listener.id === id));
    if (states.length === 0) return <Badge tone="plain">not active</Badge>;
    const closed = states.find(({ state }) => state !== 'open');
    if (closed === undefined) return <Badge tone="good">open</Badge>;
    return <Badge tone="bad">{closed.reason === undefined ? closed.state : `${closed.state}: ${closed.reason}`}</Badge>;
  };
  return (
    <EntityPage
      kind="listeners"
      slug="listeners"
      columns={[
        { title: 'Address', width: 2, of: ({ address, port }) => `${text(address ?? '0.0.0.0')}:${text(port)}` },
        { title: 'TLS', width: 1.4, of: ({ tls, name }) => (tls === undefined ? 'no' : `yes ${daysOf(name)}`) },
        { title: 'State', width: 2, of: ({ id }) => stateOf(id) },
      ]}
    />
  );
}

export function Groups() {
  return (
    <EntityPage
      kind="groups"
      slug="groups"
      columns={[
        { title: 'Path', width: 2, of: ({ pathPrefix, pathRegex }) => text(pathPrefix ?? pathRegex) },
        { title: 'Hosts', width: 2, of: ({ hostnames }) => (Array.isArray(hostnames) ? hostnames.join(', ') : '') },
        { title: 'Routes', width: 1, of: ({ routeIds }) => countOf(routeIds) },
      ]}
    />
  );
}

/** Counts the resources that hold a reference to each secret, by id. */
function useSecretUses(): ReadonlyMap<string, number> {
  const lists = useCollections(holders).map((collection) => collection.entities.value ?? []);
  return useMemo(() => {
    const uses = new Map<string, number>();
    for (const entity of lists.flat()) for (const id of secretsOf(entity)) uses.set(id, (uses.get(id) ?? 0) + 1);
    return uses;
  }, lists);
}

export function Secrets() {
  const uses = useSecretUses();
  return (
    <EntityPage
      kind="secrets"
      slug="secrets"
      columns={[
        { title: 'Set', width: 1, of: ({ changedAt }) => <Age of={changedAt} /> },
        { title: 'Used by', width: 1, of: ({ id }) => counted(uses.get(id) ?? 0, 'resource') },
        { title: 'Owner', width: 1, of: ({ owner }) => owner ?? '' },
      ]}
    />
  );
}

function Age({ of }: { readonly of: unknown }) {
  if (typeof of !== 'string') return <span class="about">not noted</span>;
  return <span title={moment(of)}>{ago(of)}</span>;
}

/** Routes of connections, for listeners of protocol tcp: part of the page of routes. */
export function StreamRoutes() {
  const destinationsOf = ({ forward }: Entity): string => {
    const { destinations = [] } = Object(forward) as { destinations?: readonly { readonly destinationId?: string }[] };
    return destinations.map(({ destinationId }) => destinationId ?? '').join(', ');
  };
  return (
    <EntityPage
      kind="streamRoutes"
      slug="routes"
      base={{ kind: 'streamRoutes' }}
      columns={[
        { title: 'Match', width: 3, of: ({ match }) => text(match) },
        { title: 'Destinations', width: 2, of: destinationsOf },
        { title: 'Owner', width: 1, of: ({ owner }) => owner ?? '' },
      ]}
    />
  );
}
