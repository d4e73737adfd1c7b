// One route: its matchers in words, what takes its requests instead, its chain, its destinations, its history.
import { useEffect, useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { ApiError, call, get, messageOf, post } from '../lib/api.ts';
import { ago, ms, percent, rate } from '../lib/format.ts';
import { useLook, useWatched, watchEvents } from '../lib/live.ts';
import { matchersInWords, type RouteEntity } from '../lib/route-rows.ts';
import { go } from '../lib/router.ts';
import { refusal } from '../lib/store.ts';
import type { Explanation, Finding, Stats, TrafficSubject } from '../lib/types.ts';
import { Act, Badge, Empty, PageLink, Problem, SimpleTable } from '../parts/basics.tsx';
import { FindingsList } from '../parts/findings.tsx';
import { Endpoints } from './endpoints.tsx';
import { History } from './history.tsx';
import { compares, Mismatches } from './mismatches.tsx';

const lookMs = 2_000;
const goneText = 'This route is not staged any more.';

/** Returns a request that the route would match, as far as its matchers can be turned into one. */
function exampleOf({ match = {} }: RouteEntity): {
  url: string;
  method: string;
  headers: Record<string, string>;
} {
  const host = (match.hostnames?.[0] ?? 'example.test').replace(/^\*$/, 'example.test').replace(/^\*\./, 'any.');
  const path = match.path ?? match.pathPrefix ?? '/';
  const named = (list: readonly unknown[] = []): [string, string][] =>
    list.map((each) => {
      const { name, value } = Object(each) as { name?: string; value?: string };
      return [name ?? '', value ?? 'any'];
    });
  const parameters = new URLSearchParams(named(match.queryParams)).toString();
  return {
    url: `${match.scheme ?? 'http'}://${host}${path}${parameters === '' ? '' : `?${parameters}`}`,
    method: match.methods?.[0] ?? 'GET',
    headers: Object.fromEntries(named(match.headers)),
  };
}

/** Matchers that no example can be made of leave the page without an explanation. */
function refusedExample(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 400) return undefined;
  throw error;
}

/** Findings of the staged configuration that are about the route, or have it as a reason. */
function RouteFindings({ id }: { readonly id: string }) {
  const [findings, setFindings] = useState<readonly Finding[]>([]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const abort = new AbortController();
    get<{ readonly findings: readonly Finding[] }>('/findings?of=staged', abort.signal).then(
      (found) => setFindings(found.findings.filter((each) => isAbout(each, id))),
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(messageOf(error));
      },
    );
    return () => abort.abort();
  }, [id]);
  if (findings.length === 0 && problem === undefined) return null;
  return (
    <section class="card">
      <h2>Findings</h2>
      <Problem text={problem} />
      <FindingsList name="Findings" findings={findings} />
    </section>
  );
}

const isAbout = ({ kind, id, because }: Finding, route: string): boolean =>
  [{ kind, id }, ...because].some((each) => each.kind === 'routes' && each.id === route);

/** Returns the traffic of a route, with the runs of its middlewares, kept current while it is shown. */
function useTraffic(id: string): TrafficSubject | undefined {
  const [traffic, setTraffic] = useState<TrafficSubject>();
  // Figures that are missing come with the next look; the connection is shown in the frame.
  const look = (signal: AbortSignal): void =>
    void get<Stats>(`/stats?routes=${encodeURIComponent(id)}&chain=true`, signal).then(
      ({ routes }) => setTraffic(routes[0]),
      () => undefined,
    );
  useLook(look, lookMs, [id]);
  return traffic;
}

/** Middlewares of the staged route as an example of its requests runs them, with what those of the active one did. */
function Chain({
  explained,
  counted,
}: {
  readonly explained: Explanation['middlewares'];
  readonly counted: NonNullable<TrafficSubject['chain']>;
}) {
  const countsOf = new Map(counted.map((each) => [each.middlewareId, each]));
  const known = new Set(explained.map(({ id }) => id));
  const rows = [
    ...explained.map(({ id, name, type, runs, because }) => ({
      ...{ id, name: name ?? id, type: type ?? '' },
      runs: `${runs ? 'yes' : 'no'}: ${chainReasons[because]}`,
    })),
    ...counted
      .filter(({ middlewareId }) => !known.has(middlewareId))
      .map(({ middlewareId, name, type }) => ({ id: middlewareId, name: name ?? middlewareId, type, runs: '' })),
  ];
  return (
    <section class="card">
      <h2>Chain</h2>
      {rows.length === 0 ? (
        <Empty>No middlewares.</Empty>
      ) : (
        <SimpleTable
          name="Chain"
          head={['Middleware', 'Type', 'Runs for an example', 'Passed', 'Rejected']}
          rows={rows.map(({ id, name, type, runs }) => ({
            key: id,
            cells: [
              <PageLink key="link" to="middlewares" query={{ id }}>
                {name}
              </PageLink>,
              type,
              runs,
              countsOf.get(id)?.passed.toLocaleString('en') ?? '–',
              countsOf.get(id)?.rejected.toLocaleString('en') ?? '–',
            ],
          }))}
        />
      )}
    </section>
  );
}

const chainReasons: Readonly<Record<Explanation['middlewares'][number]['because'], string>> = {
  always: 'it has no condition',
  disabled: 'an override disables it',
  skipWhen: 'skipWhen holds',
  onlyWhen: 'onlyWhen decides',
  notReached: 'an earlier one answers',
};

/** Stages the route as it is now, disabled or enabled again. */
async function stageDisabled(id: string, isDisabled: boolean): Promise<void> {
  const path = `/routes/${encodeURIComponent(id)}`;
  const { body, headers } = await call<RouteEntity>('GET', path);
  const { disabled: _, ...enabled } = body;
  const etag = headers.get('etag');
  await call('PUT', path, {
    body: isDisabled ? { ...enabled, disabled: true } : enabled,
    ...(etag !== null && { headers: { 'If-Match': etag } }),
  });
}

export function RouteDetail({ id }: { readonly id: string }) {
  const [route, setRoute] = useState<RouteEntity>();
  const traffic = useTraffic(id);
  const [explained, setExplained] = useState<Explanation>();
  const [problem, setProblem] = useState<string>();
  const [reads, setReads] = useState(0);
  const [watched] = useState(() =>
    watchEvents(['staged', 'active'], ({ event, kind, ids, more, isDeleted }) => {
      if (event === 'staged' && kind === 'routes' && isDeleted && ids.includes(id)) {
        setRoute(undefined);
        setProblem(goneText);
        return;
      }
      if (event !== 'staged' || (kind ?? 'routes') !== 'routes' || more || ids.includes(id)) setReads((n) => n + 1);
    }),
  );
  useWatched(watched);
  useEffect(() => {
    let isCurrent = true;
    const read = async (): Promise<void> => {
      const found = await get<RouteEntity>(`/routes/${encodeURIComponent(id)}`);
      const isExplained = found.disabled !== true && found.match?.pathRegex === undefined;
      const explanation = isExplained
        ? await post<Explanation>('/explain', { ...exampleOf(found), snapshot: 'staged' }).catch(refusedExample)
        : undefined;
      if (!isCurrent) return;
      setRoute(found);
      setExplained(explanation);
      setProblem(undefined);
    };
    read().catch((error: unknown) => {
      const isGone = error instanceof ApiError && error.status === 404;
      if (isCurrent) setProblem(isGone ? goneText : messageOf(error));
    });
    return () => {
      isCurrent = false;
    };
  }, [id, reads]);
  if (route === undefined) return problem === undefined ? <p>Loading …</p> : <Problem text={problem} />;
  const now = traffic?.windows['60s'];
  const isDisabled = route.disabled === true;
  const toggle = async (): Promise<void> => {
    try {
      await stageDisabled(id, !isDisabled);
      say(
        isDisabled
          ? `The route ${route.name} is staged to serve again.`
          : `The route ${route.name} is staged as disabled.`,
      );
    } catch (error) {
      say(messageOf(error), 'bad');
    }
  };
  const isShadowed = explained !== undefined && explained.winner !== null && explained.winner.route.id !== id;
  return (
    <>
      <div class="row title">
        <h2>{route.name}</h2>
        {isDisabled && <Badge tone="warn">disabled</Badge>}
        <Act kind="main" refused={refusal('editor')} onAct={() => go('routes', { edit: id })}>
          Edit
        </Act>
        <Act refused={refusal('editor')} onAct={toggle}>
          {isDisabled ? 'Enable' : 'Disable'}
        </Act>
        <PageLink to="requests" query={{ filter: `routeId == ${JSON.stringify(id)}` }}>
          Requests
        </PageLink>
        <PageLink to="routes">All routes</PageLink>
      </div>
      <Problem text={problem} />
      <div class="columns">
        <section class="card">
          <h2>Takes a request when</h2>
          <ul>
            {matchersInWords(route).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          {isShadowed && (
            <p>
              <Badge tone="warn">shadowed</Badge> An example of its requests goes to{' '}
              <PageLink to="routes" query={{ id: explained.winner?.route.id ?? '' }}>
                {explained.winner?.route.name}
              </PageLink>
              .
            </p>
          )}
        </section>
        <section class="card">
          <h2>Traffic</h2>
          <dl class="facts">
            <dt>Rate</dt>
            <dd>{rate(now?.requestsPerSecond)}</dd>
            <dt>Errors</dt>
            <dd>{percent(now?.errorRate)}</dd>
            <dt>Latency p99</dt>
            <dd>{ms(now?.p99Ms)}</dd>
            <dt>Last hit</dt>
            <dd>{ago(traffic?.lastHit)}</dd>
          </dl>
        </section>
      </div>
      <Chain explained={explained?.middlewares ?? []} counted={traffic?.chain ?? []} />
      {(route.forward?.destinations ?? []).map(({ destinationId }) => (
        <Endpoints key={destinationId} id={destinationId} />
      ))}
      {compares(route) && <Mismatches id={id} />}
      <RouteFindings id={id} />
      <History kind="routes" id={id} />
    </>
  );
}
