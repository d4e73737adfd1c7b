// Overview: the last fifteen minutes of the fleet, what needs attention, the routes that stand out.
import { useEffect, useState } from 'preact/hooks';
import { get } from '../lib/api.ts';
import { counted, ms, percent, rate } from '../lib/format.ts';
import { type Live, useLive } from '../lib/live.ts';
import { needSources, needs, stats } from '../lib/store.ts';
import type { Stats, TrafficSubject } from '../lib/types.ts';
import { Badge, Empty, PageLink, Problem, SimpleTable } from '../parts/basics.tsx';
import { Chart } from '../parts/chart.tsx';

type Point = NonNullable<Stats['history']>[number];

const pointsMax = 180;
const historyMs = 5_000;
/** Share of errors above which the figure stands out. */
const errorsMax = 0.01;

function useHistory(): readonly Point[] {
  const [history, setHistory] = useState<readonly Point[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    const read = async (): Promise<void> => {
      const { history: read = [] } = await get<Stats>('/stats?history=true', abort.signal);
      // The last step is not over yet.
      setHistory(read.slice(0, -1).slice(-pointsMax));
    };
    const look = (): void => void (document.hidden || read().catch(() => undefined));
    look();
    const timer = setInterval(look, historyMs);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, []);
  return history;
}

export function Overview() {
  const now = useLive(stats);
  for (const { source } of needSources) useLive<unknown>(source);
  const history = useHistory();
  const times = history.map(({ at }) => Date.parse(at) / 1_000);
  const total = now?.total['10s'];
  return (
    <>
      <Problem text={problemsOf([{ name: 'traffic', source: stats }, ...needSources])} />
      <div class="tiles">
        <Tile title="Requests" value={rate(total?.requestsPerSecond)} />
        <Tile title="Errors" value={percent(total?.errorRate)} isBad={(total?.errorRate ?? 0) > errorsMax} />
        <Tile title="Client errors" value={percent(total?.clientErrorRate)} />
        <Tile title="Latency p50" value={ms(total?.p50Ms)} />
        <Tile title="Latency p99" value={ms(total?.p99Ms)} />
      </div>
      {now !== undefined && now.unreachableNodes.length > 0 && (
        <p class="notice" role="status">
          Without the traffic of {now.unreachableNodes.join(', ')}: no answer within a second.
        </p>
      )}
      <Needs />
      <div class="charts">
        <Chart
          title="Requests per second by result"
          unit=""
          times={times}
          lines={[
            {
              label: 'answered',
              colour: 'good',
              values: history.map((each) => each.requestsPerSecond * (1 - each.errorRate - each.clientErrorRate)),
            },
            {
              label: 'client errors',
              colour: 'warn',
              dash: [6, 3],
              values: history.map((each) => each.requestsPerSecond * each.clientErrorRate),
            },
            {
              label: 'errors',
              colour: 'bad',
              dash: [2, 2],
              values: history.map((each) => each.requestsPerSecond * each.errorRate),
            },
          ]}
        />
        <Chart
          title="Latency"
          unit=" ms"
          times={times}
          lines={[
            { label: 'p50', colour: 'accent', values: history.map(({ p50Ms }) => p50Ms) },
            { label: 'p99', colour: 'warn', dash: [6, 3], values: history.map(({ p99Ms }) => p99Ms) },
          ]}
        />
      </div>
      <div class="columns">
        <Top
          title="Most errors"
          none="No errors in the last minute."
          subjects={now?.routes}
          of={({ windows }) => windows['60s']?.errorRate ?? 0}
        />
        <Top title="Most traffic" subjects={now?.routes} of={({ windows }) => windows['60s']?.requestsPerSecond ?? 0} />
        <Top title="Slowest" subjects={now?.routes} of={({ windows }) => windows['60s']?.p99Ms ?? 0} />
      </div>
    </>
  );
}

function Tile({
  title,
  value,
  isBad = false,
}: {
  readonly title: string;
  readonly value: string;
  readonly isBad?: boolean;
}) {
  return (
    <div class={isBad ? 'tile bad' : 'tile'}>
      <span class="about">{title}</span>
      <strong>{value}</strong>
    </div>
  );
}

interface Named {
  readonly name: string;
  readonly source: Pick<Live<unknown>, 'error'>;
}

/** Errors with the names of what could not be read, each error once. */
function problemsOf(sources: readonly Named[]): string | undefined {
  const failed = sources.filter(({ source }) => source.error.value !== undefined);
  const byError = Object.groupBy(failed, ({ source }) => source.error.value ?? '');
  const texts = Object.entries(byError).map(
    ([error, of = []]) => `No ${of.map(({ name }) => name).join(', ')}: ${error}`,
  );
  return texts.length === 0 ? undefined : texts.join('; ');
}

function Needs() {
  const list = needs.value;
  const unknown = needSources.filter(({ source }) => source.error.value !== undefined);
  const isRead = needSources.every(({ source }) => source.value.value !== undefined);
  return (
    <section class="card" aria-label="Needs attention">
      <h2>Needs attention</h2>
      {unknown.length > 0 && <Empty>Not known: {unknown.map(({ name }) => name).join(', ')}.</Empty>}
      {list.length === 0 && unknown.length === 0 && !isRead && <Empty>Loading …</Empty>}
      {list.length === 0 ? (
        unknown.length === 0 &&
        isRead && <Empty>Nothing: endpoints, listeners, certificates, proxies, nodes and their disks are well.</Empty>
      ) : (
        <ul class="needs">
          {list.map(({ text, tone, to, query }) => (
            <li key={text}>
              <Badge tone={tone}>{tone === 'bad' ? 'failed' : 'look'}</Badge>{' '}
              <PageLink to={to} {...(query && { query })}>
                {text}
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Top({
  title,
  none = 'No requests in the last minute.',
  subjects,
  of,
}: {
  readonly title: string;
  /** Text where no subject stands out. */
  readonly none?: string;
  readonly subjects: readonly TrafficSubject[] | undefined;
  readonly of: (subject: TrafficSubject) => number;
}) {
  if (subjects === undefined)
    return (
      <section class="card">
        <h2>{title}</h2>
        <Empty>Not known yet.</Empty>
      </section>
    );
  const first = subjects
    .filter((subject) => of(subject) > 0)
    .sort((a, b) => of(b) - of(a))
    .slice(0, 5);
  return (
    <section class="card">
      <h2>{title}</h2>
      {first.length === 0 ? (
        <Empty>{none}</Empty>
      ) : (
        <SimpleTable
          name={title}
          head={['Route', 'Rate', 'Errors', 'p99']}
          rows={first.map(({ id, name, windows }) => ({
            key: id,
            cells: [
              <PageLink to="requests" query={{ filter: `routeId == ${JSON.stringify(id)}` }} key="link">
                {name ?? id}
              </PageLink>,
              rate(windows['60s']?.requestsPerSecond),
              percent(windows['60s']?.errorRate),
              ms(windows['60s']?.p99Ms),
            ],
          }))}
        />
      )}
      <p class="about">{counted(subjects.length, 'route')} had requests in the last minute.</p>
    </section>
  );
}
