// Live tail of the requests that this node's proxy answers, filtered by CEL on the server.
import { useEffect, useRef, useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { ApiError, follow, get, messageOf } from '../lib/api.ts';
import { counted } from '../lib/format.ts';
import { go, query, replace } from '../lib/router.ts';
import type { RecentRequest } from '../lib/types.ts';
import { Badge, Field, Problem, type Tone } from '../parts/basics.tsx';
import { PhaseBar, PhaseTable } from '../parts/phases.tsx';
import { type Column, VirtualTable } from '../parts/virtual-table.tsx';

interface Row extends RecentRequest {
  readonly number: number;
}

const keptMax = 1_000;
/** Requests that come within so much are shown at once. */
const gatherMs = 250;
const againMs = 1_000;

const toneOf = ({ status, error }: RecentRequest): Tone =>
  status >= 500 ? 'bad' : status >= 400 || error !== '' ? 'warn' : 'good';

const urlOf = ({ scheme, host, path, params }: RecentRequest): string =>
  `${scheme}://${host}${path}${params.length === 0 ? '' : `?${params.map((name) => `${name}=`).join('&')}`}`;

/** Tells a request from others: the log gives them no id. */
const identityOf = ({ time, method, host, path, durationMs }: RecentRequest): string =>
  `${time} ${durationMs} ${method} ${host} ${path}`;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns a command that repeats a request, without what is not kept. */
export const curlOf = (request: RecentRequest): string =>
  [
    `curl -X ${quoted(request.method)} ${quoted(urlOf(request))}`,
    ...Object.entries(request.headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
  ].join(' ');

/** Follows requests until it is paused; returns the rows, newest first. */
function useTail(filter: string, isPaused: boolean, onProblem: (text: string | undefined) => void): readonly Row[] {
  const [rows, setRows] = useState<readonly Row[]>([]);
  const number = useRef(0);
  useEffect(() => {
    if (isPaused) return;
    const abort = new AbortController();
    const where = filter === '' ? '' : `where=${encodeURIComponent(filter)}`;
    let waiting: Row[] = [];
    let flush: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      flush = undefined;
      const batch = waiting.reverse();
      waiting = [];
      setRows((before) => {
        const known = new Set(before.map(identityOf));
        return [...batch.filter((row) => !known.has(identityOf(row))), ...before].slice(0, keptMax);
      });
    };
    const take = (request: RecentRequest): void => {
      waiting.push({ ...request, number: ++number.current });
      flush ??= setTimeout(show, gatherMs);
    };
    const past = async (): Promise<void> => {
      const { requests } = await get<{ readonly requests: readonly RecentRequest[] }>(
        `/requests?limit=100&${where}`,
        abort.signal,
      );
      onProblem(undefined);
      setRows((before) => {
        const known = new Set([...before, ...waiting].map(identityOf));
        const missed = requests.filter((request) => !known.has(identityOf(request)));
        return [...before, ...missed.map((request) => ({ ...request, number: ++number.current }))].slice(0, keptMax);
      });
    };
    setRows([]);
    void (async () => {
      for (;;) {
        try {
          // The stream is open before the past is read, so that none is missed between the two.
          const onOpen = (): void =>
            void past().catch((error: unknown) => abort.signal.aborted || onProblem(messageOf(error)));
          const onEvent = ({ event, data }: { event: string; data: string }): void => {
            if (event === 'request') take(JSON.parse(data) as RecentRequest);
          };
          await follow(`/requests/stream?${where}`, abort.signal, onEvent, { onOpen });
        } catch (error) {
          if (abort.signal.aborted) return;
          onProblem(messageOf(error));
          if (error instanceof ApiError && error.status < 500) return;
        }
        await new Promise((resolve) => setTimeout(resolve, againMs));
        if (abort.signal.aborted) return;
      }
    })();
    return () => {
      abort.abort();
      clearTimeout(flush);
    };
  }, [filter, isPaused, onProblem]);
  return rows;
}

export function Requests() {
  const [filter, setFilter] = useState(query.value.get('filter') ?? '');
  const [draft, setDraft] = useState(filter);
  const [isPaused, setPaused] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [chosen, setChosen] = useState<Row>();
  const rows = useTail(filter, isPaused, setProblem);
  const apply = (event: Event): void => {
    event.preventDefault();
    setFilter(draft.trim());
    replace('requests', draft.trim() === '' ? {} : { filter: draft.trim() });
  };
  const columns: readonly Column<Row>[] = [
    {
      title: 'Time',
      width: 2,
      cell: ({ time }) => (
        <>
          {time.slice(11, 19)}
          <span class="extra">{time.slice(19, 23)}</span>
        </>
      ),
    },
    {
      title: 'Status',
      width: 1.8,
      cell: (row) => (
        <>
          <Badge tone={toneOf(row)}>{row.status}</Badge>
          {row.error !== '' && <span class="about"> {row.error}</span>}
        </>
      ),
    },
    {
      title: 'Request',
      width: 5,
      cell: (row) => (
        <button type="button" class="link" onClick={() => setChosen(row)}>
          {row.method} {urlOf(row)}
        </button>
      ),
    },
    { title: 'Route', width: 2, isExtra: true, cell: ({ route }) => route },
    { title: 'Endpoint', width: 2, isExtra: true, cell: ({ endpoint }) => endpoint },
    {
      title: 'Duration',
      width: 2,
      isExtra: true,
      cell: (row) => <PhaseBar request={row} />,
    },
  ];
  return (
    <>
      <form class="row filters" onSubmit={apply}>
        <Field label="Filter">
          {(id) => (
            <>
              <input
                id={id}
                class="wide"
                type="text"
                data-search
                autocomplete="off"
                spellcheck={false}
                placeholder="status >= 500 && route == &quot;shop&quot;"
                aria-invalid={problem === undefined ? undefined : 'true'}
                aria-describedby={problem === undefined ? undefined : `${id}-problem`}
                value={draft}
                onInput={(event) => setDraft(event.currentTarget.value)}
              />
              <div id={`${id}-problem`}>
                <Problem text={problem} />
              </div>
            </>
          )}
        </Field>
        <button type="submit">Apply</button>
        <button type="button" onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      </form>
      <p class="about" role="status">
        {counted(rows.length, 'request')}
        {isPaused ? ', paused' : ''}
      </p>
      {chosen !== undefined && <Chosen request={chosen} onClose={() => setChosen(undefined)} />}
      <VirtualTable
        name="Requests"
        columns={columns}
        rows={rows}
        keyOf={({ number }) => String(number)}
        onOpen={setChosen}
      />
    </>
  );
}

function Chosen({ request, onClose }: { readonly request: Row; readonly onClose: () => void }) {
  const copy = async (): Promise<void> => {
    const command = curlOf(request);
    try {
      await navigator.clipboard.writeText(command);
      say('Copied.');
    } catch {
      // Without a secure origin there is no clipboard; the command is shown to be copied by hand.
      say(command);
    }
  };
  const explain = (): void => {
    const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
    go('explain', {
      url: urlOf(request),
      method: request.method,
      ...(request.listenerId !== '' && { listener: request.listenerId }),
      ...(headers.length > 0 && { headers: headers.join('\n') }),
    });
  };
  return (
    <section class="card" aria-label="Chosen request">
      <h2>
        {request.method} {request.path}
      </h2>
      <dl class="facts">
        {(
          [
            'time',
            'host',
            'status',
            'route',
            'group',
            'destination',
            'endpoint',
            'attempts',
            'protocol',
            'role',
            'error',
          ] as const
        ).map((name) =>
          request[name] === '' ? null : (
            <>
              <dt>{name}</dt>
              <dd>{String(request[name])}</dd>
            </>
          ),
        )}
      </dl>
      <PhaseTable request={request} />
      <div class="row">
        <button type="button" class="main" onClick={explain}>
          Explain now
        </button>
        <button type="button" onClick={() => void copy()}>
          Copy as curl
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </section>
  );
}
