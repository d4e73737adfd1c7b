// Routes in the order in which the proxy asks them, searched and filtered at once, with the traffic of those in sight.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Editor } from '../editor/editor.tsx';
import { get, messageOf, post } from '../lib/api.ts';
import { useCollection } from '../lib/collection.ts';
import { ago, counted, ms, percent, rate } from '../lib/format.ts';
import { type Action, type GroupEntity, type RouteEntity, type RouteRow, rowsOf, searched } from '../lib/route-rows.ts';
import { go, query, replace } from '../lib/router.ts';
import { refusal } from '../lib/store.ts';
import type { Explanation, Stats, TrafficSubject } from '../lib/types.ts';
import { Act, Badge, Field, PageLink, Problem } from '../parts/basics.tsx';
import { Choice, Search } from '../parts/filters.tsx';
import { type Column, VirtualTable } from '../parts/virtual-table.tsx';
import { StreamRoutes } from './entities.tsx';
import { RouteDetail } from './route-detail.tsx';

const lookMs = 2_000;
/** Ids that one question names. */
const askedMax = 100;

export function Routes() {
  const id = query.value.get('id') ?? undefined;
  const edit = query.value.get('edit') ?? undefined;
  if (query.value.get('kind') === 'streamRoutes')
    return (
      <>
        <Kinds of="streamRoutes" />
        <StreamRoutes />
      </>
    );
  if (edit !== undefined)
    return (
      <Editor
        key={edit}
        kind="routes"
        id={edit === '' ? undefined : edit}
        onDone={(done) => (done === undefined ? go('routes') : go('routes', { id: done }))}
      />
    );
  return id === undefined ? <List /> : <RouteDetail key={id} id={id} />;
}

/** Returns the traffic of the rows in sight by the id of their route. */
function useTraffic(): [ReadonlyMap<string, TrafficSubject>, (rows: readonly RouteRow[]) => void] {
  const [traffic, setTraffic] = useState<ReadonlyMap<string, TrafficSubject>>(new Map());
  const shown = useRef<readonly string[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const look = useCallback(async (): Promise<void> => {
    clearTimeout(timer.current);
    try {
      if (shown.current.length > 0 && !document.hidden) {
        const { routes } = await get<Stats>(`/stats?routes=${shown.current.map(encodeURIComponent).join(',')}`);
        setTraffic(new Map(routes.map((each) => [each.id, each])));
      }
    } catch {
      // The figures are missing until the next look; the connection is shown in the frame.
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void look(), lookMs);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onRange = useCallback(
    (rows: readonly RouteRow[]): void => {
      const ids = [...new Set(rows.map(({ id }) => id))].slice(0, askedMax);
      if (ids.join() === shown.current.join()) return;
      shown.current = ids;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void look(), 150);
    },
    [look],
  );
  return [traffic, onRange];
}

function List() {
  const routes = useCollection('routes');
  const groups = useCollection('groups');
  const destinations = useCollection('destinations');
  const [search, setSearch] = useState(query.value.get('search') ?? '');
  const [action, setAction] = useState<Action | ''>('');
  const [group, setGroup] = useState('');
  const [owner, setOwner] = useState('');
  const [traffic, onRange] = useTraffic();
  const [routeList, groupList, destinationList] = [
    routes.entities.value,
    groups.entities.value,
    destinations.entities.value,
  ];
  const rows = useMemo(() => {
    const names = new Map((destinationList ?? []).map(({ id, name }) => [id, name]));
    return rowsOf((routeList ?? []) as RouteEntity[], (groupList ?? []) as GroupEntity[], (id) => names.get(id) ?? id);
  }, [routeList, groupList, destinationList]);
  const facets = useMemo(
    () => ({
      groups: [...new Set(rows.map((row) => row.group))].filter((name) => name !== '').sort(),
      owners: [...new Set(rows.map((row) => row.owner))].filter((name) => name !== '').sort(),
    }),
    [rows],
  );
  const found = useMemo(
    () =>
      searched(rows, search).filter(
        (row) =>
          (action === '' || row.action === action) &&
          (group === '' || row.group === group) &&
          (owner === '' || row.owner === owner),
      ),
    [rows, search, action, group, owner],
  );
  const sixty = (id: string) => traffic.get(id)?.windows['60s'];
  const columns: readonly Column<RouteRow>[] = [
    {
      title: 'Name',
      width: 3,
      cell: ({ id, name, group: of }) => (
        <>
          <PageLink to="routes" query={{ id }}>
            {name}
          </PageLink>
          {of !== '' && <span class="about"> in {of}</span>}
        </>
      ),
    },
    { title: 'Host', width: 2, cell: ({ hosts }) => hosts },
    {
      title: 'Path',
      width: 3,
      cell: ({ path, pathType }) => (
        <span title={pathType}>
          <code>{path}</code>
          {pathType === 'prefix' ? ' …' : pathType === 'regex' ? ' (pattern)' : ''}
        </span>
      ),
    },
    { title: 'Action', width: 1.3, isExtra: true, cell: ActionOf },
    { title: 'Destinations', width: 2, isExtra: true, cell: (row) => row.destinations },
    { title: 'Rate', width: 1, isExtra: true, cell: ({ id }) => rate(sixty(id)?.requestsPerSecond) },
    { title: '5xx', width: 1, isExtra: true, cell: ({ id }) => percent(sixty(id)?.errorRate) },
    { title: 'p99', width: 1, isExtra: true, cell: ({ id }) => ms(sixty(id)?.p99Ms) },
    {
      title: 'Last hit',
      width: 1.3,
      isExtra: true,
      cell: ({ id }) => (traffic.has(id) ? ago(traffic.get(id)?.lastHit) : '–'),
    },
  ];
  return (
    <>
      <Kinds of="routes" />
      <Takes />
      <div class="row filters">
        <Search
          label="Search routes"
          value={search}
          onSearch={(text) => {
            setSearch(text);
            replace('routes', text === '' ? {} : { search: text });
          }}
        />
        <Choice
          label="Action"
          value={action}
          choices={['forward', 'redirect', 'direct response', 'disabled']}
          onChoose={setAction}
        />
        {facets.groups.length > 0 && <Choice label="Group" value={group} choices={facets.groups} onChoose={setGroup} />}
        {facets.owners.length > 0 && <Choice label="Owner" value={owner} choices={facets.owners} onChoose={setOwner} />}
        <Act kind="main" refused={refusal('editor')} onAct={() => go('routes', { edit: '' })}>
          New route
        </Act>
      </div>
      <Problem text={routes.error.value} />
      <p class="about" role="status">
        {routeList === undefined
          ? 'Loading …'
          : `${counted(found.length, 'row')} of ${rows.length.toLocaleString('en')}`}
      </p>
      <VirtualTable
        name="Routes"
        columns={columns}
        rows={found}
        keyOf={({ key }) => key}
        onRange={onRange}
        onOpen={({ id }) => go('routes', { id })}
      />
    </>
  );
}

function ActionOf({ action }: RouteRow) {
  return action === 'disabled' ? <Badge tone="warn">disabled</Badge> : action;
}

/** Switch between routes of requests and of connections. */
function Kinds({ of }: { readonly of: 'routes' | 'streamRoutes' }) {
  return (
    <p class="kinds">
      {of === 'routes' ? <strong>Of requests</strong> : <PageLink to="routes">Of requests</PageLink>} ·{' '}
      {of === 'streamRoutes' ? (
        <strong>Of connections</strong>
      ) : (
        <PageLink to="routes" query={{ kind: 'streamRoutes' }}>
          Of connections
        </PageLink>
      )}
    </p>
  );
}

function Takes() {
  const [url, setUrl] = useState('');
  const [answer, setAnswer] = useState('');
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const { winner, outcome } = await post<Explanation>('/explain', { url, snapshot: 'staged' });
      setAnswer(
        winner === null
          ? outcome.action === 'error'
            ? 'No route takes it.'
            : `No route takes it: the listener answers (${outcome.action}).`
          : `${winner.route.name}${winner.group === undefined ? '' : ` in ${winner.group.name}`} takes it (${outcome.action}).`,
      );
    } catch (error) {
      setAnswer(messageOf(error));
    }
  };
  return (
    <form class="row" onSubmit={(event) => void ask(event)}>
      <Field label="Which route takes this URL?">
        {(id) => (
          <input
            id={id}
            type="text"
            inputMode="url"
            autocomplete="off"
            placeholder="https://shop.example/cart"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit">Look</button>
      <output class="answer">{answer}</output>
    </form>
  );
}
