// Why a request goes where it goes: in the active configuration and in the staged one, side by side.
import { useEffect, useState } from 'preact/hooks';
import { messageOf, post } from '../lib/api.ts';
import { shown } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { query } from '../lib/router.ts';
import { snapshots } from '../lib/store.ts';
import type { ExplainCandidate, Explanation } from '../lib/types.ts';
import { Badge, Field, PageLink, Problem, SimpleTable } from '../parts/basics.tsx';

interface Answered {
  readonly title: string;
  readonly explanation?: Explanation;
  readonly problem?: string;
}

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];

/** Reads lines of `name: value`. */
function headersOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.includes(':'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

export function Explain() {
  const list = useLive(snapshots);
  const [url, setUrl] = useState(query.value.get('url') ?? '');
  const [method, setMethod] = useState(query.value.get('method') ?? 'GET');
  const [headers, setHeaders] = useState(query.value.get('headers') ?? '');
  const [clientIp, setClientIp] = useState('');
  const [body, setBody] = useState('');
  const [listener, setListener] = useState(query.value.get('listener') ?? '');
  const [third, setThird] = useState('');
  const [answers, setAnswers] = useState<readonly Answered[]>([]);
  const question = {
    url,
    method,
    headers: headersOf(headers),
    ...(clientIp !== '' && { clientIp }),
    ...(body !== '' && { body }),
    ...(listener.trim() !== '' && { listener: listener.trim() }),
  };
  const ask = async (title: string, snapshot: string): Promise<Answered> => {
    try {
      return { title, explanation: await post<Explanation>('/explain', { ...question, snapshot }) };
    } catch (error) {
      return { title, problem: messageOf(error) };
    }
  };
  const explain = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    const other = list?.find(({ id }) => id === third);
    setAnswers(
      await Promise.all([
        ask('Active', 'active'),
        ask('Staged', 'staged'),
        ...(other === undefined ? [] : [ask(other.name, other.id)]),
      ]),
    );
  };
  // A question that came with the address is answered at once.
  useEffect(() => {
    if (query.peek().get('url') !== null) void explain();
  }, []);
  const save = (): void => {
    const winner = answers.find(({ title }) => title === 'Active')?.explanation?.winner?.route.name;
    const test = { name: `${method} ${url}`, request: question, expect: { route: winner ?? null } };
    const link = document.createElement('a');
    const blob = URL.createObjectURL(
      new Blob([`${JSON.stringify(test, undefined, 2)}\n`], { type: 'application/json' }),
    );
    link.href = blob;
    link.download = 'route-test.json';
    link.click();
    URL.revokeObjectURL(blob);
  };
  return (
    <>
      <form class="card" onSubmit={(event) => void explain(event)}>
        <div class="row">
          <Field label="Method">
            {(id) => (
              <select id={id} value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
                {[...new Set([...methods, method])].map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="URL">
            {(id) => (
              <input
                id={id}
                class="wide"
                type="text"
                inputMode="url"
                autocomplete="off"
                required
                value={url}
                onInput={(event) => setUrl(event.currentTarget.value)}
              />
            )}
          </Field>
          <button type="submit" class="main">
            Explain
          </button>
        </div>
        <details>
          <summary>Headers, body, client, listener, another snapshot</summary>
          <Field label="Headers">
            {(id) => (
              <textarea
                id={id}
                rows={3}
                placeholder="x-tenant: gold"
                value={headers}
                onInput={(event) => setHeaders(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Body">
            {(id) => <textarea id={id} rows={2} value={body} onInput={(event) => setBody(event.currentTarget.value)} />}
          </Field>
          <Field label="Client IP">
            {(id) => (
              <input id={id} type="text" value={clientIp} onInput={(event) => setClientIp(event.currentTarget.value)} />
            )}
          </Field>
          <Field label="Listener">
            {(id) => (
              <input
                id={id}
                type="text"
                autocomplete="off"
                placeholder="the one that the URL leads to"
                value={listener}
                onInput={(event) => setListener(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Beside them">
            {(id) => (
              <select id={id} value={third} onChange={(event) => setThird(event.currentTarget.value)}>
                <option value="">no other</option>
                {list?.map((each) => (
                  <option key={each.id} value={each.id}>
                    {each.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </details>
      </form>
      <div class="columns">
        {answers.map((answer, at) => (
          <Answer key={answer.title} {...answer} number={at + 1} />
        ))}
      </div>
      {answers.length > 0 && (
        <button type="button" onClick={save}>
          Save as test case
        </button>
      )}
    </>
  );
}

function Answer({ title, explanation, problem, number }: Answered & { readonly number: number }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <Problem text={problem} />
      {explanation !== undefined && <Explained number={number} explanation={explanation} />}
    </section>
  );
}

function Explained({ number, explanation }: { readonly number: number; readonly explanation: Explanation }) {
  const { winner, outcome, candidates, nearest, middlewares, notes } = explanation;
  const { action, ...about } = outcome as { readonly action: string } & Record<string, unknown>;
  const rows = candidates.length > 0 ? candidates : nearest;
  return (
    <>
      <p>
        {winner === null ? (
          <Badge tone={action === 'redirect' ? 'good' : 'bad'}>{withoutRoute(action, about.error)}</Badge>
        ) : (
          <>
            <Badge tone="good">{action}</Badge>{' '}
            <PageLink to="routes" query={{ id: winner.route.id }}>
              {winner.route.name}
            </PageLink>
            {winner.group !== undefined && <> in {winner.group.name}</>}
          </>
        )}
      </p>
      <dl class="facts">
        {Object.entries(about).map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <OutcomeValue name={name} value={value} />
            </dd>
          </>
        ))}
      </dl>
      <h3>{candidates.length > 0 ? 'Candidates' : 'What comes nearest'}</h3>
      <ol>
        {rows.map((candidate, at) => (
          <li key={at}>
            <Candidate candidate={candidate} winner={winner?.route.id} />
          </li>
        ))}
      </ol>
      {middlewares.length > 0 && (
        <SimpleTable
          name={`Middlewares of answer ${number}`}
          head={['Middleware', 'Runs', 'Because', 'Effect']}
          rows={middlewares.map((each) => ({
            key: each.id,
            cells: [each.name ?? each.id, each.runs ? 'yes' : 'no', each.because, each.effect?.kind ?? ''],
          }))}
        />
      )}
      {notes.length > 0 && (
        <ul class="about">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Fate of a request that no route serves: the listener may answer it. */
function withoutRoute(action: string, error: unknown): string {
  if (action !== 'error') return `${action} by the listener`;
  return error === 'no_route' ? 'no route' : text(error);
}

/** Share of a route: of a destination, or of a fixed answer. */
interface Share {
  readonly id?: string;
  readonly exists?: boolean;
  readonly directResponse?: { readonly status: number };
  readonly weight: number;
}

interface FieldChange {
  readonly name: string;
  /** Null: it is removed. */
  readonly value: string | null;
  readonly append: boolean;
}

/** Part of an outcome in words: destinations with their shares, the request to the upstream, else the value as it is. */
function OutcomeValue({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (name === 'destinations' && Array.isArray(value)) {
    const list = value as readonly Share[];
    const sum = list.reduce((all, { weight }) => all + weight, 0);
    return (
      <ul class="values">
        {list.map((share, at) => (
          <li key={at}>
            <ShareTarget share={share} /> {sum > 0 && `${Math.round((100 * share.weight) / sum)} %`}
          </li>
        ))}
      </ul>
    );
  }
  if (name === 'upstream') {
    const { method, target, host, changes = [] } = Object(value) as Readonly<Record<string, unknown>>;
    return (
      <>
        <code>
          {text(method)} {text(target)}
        </code>
        {host !== undefined && (
          <>
            {' '}
            for <code>{text(host)}</code>
          </>
        )}
        {(changes as readonly FieldChange[]).map((change, at) => (
          <div key={at}>
            <code>{changeText(change)}</code>
          </div>
        ))}
      </>
    );
  }
  return <code>{shown(value)}</code>;
}

function ShareTarget({ share: { id = '', exists, directResponse } }: { readonly share: Share }) {
  if (directResponse !== undefined) return <>a response {directResponse.status}</>;
  return (
    <>
      <PageLink to="destinations" query={{ id }}>
        {id}
      </PageLink>
      {exists === false && (
        <>
          {' '}
          <Badge tone="bad">does not exist</Badge>
        </>
      )}
    </>
  );
}

const changeText = ({ name, value, append }: FieldChange): string =>
  value === null ? `− ${name}` : `${append ? '+ ' : ''}${name}: ${value}`;

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

function Candidate({
  candidate,
  winner,
}: {
  readonly candidate: ExplainCandidate;
  readonly winner: string | undefined;
}) {
  const { route, group, matches, failed, rankedBehind, path } = candidate;
  const why =
    failed !== undefined
      ? `${failed.matcher} does not agree: wanted ${failed.wanted ?? ''}, found ${failed.found ?? 'nothing'}`
      : rankedBehind !== undefined
        ? `matches, and ranks behind by ${rankedBehind.key}: ${shown(rankedBehind.winner)} before ${shown(rankedBehind.own)}`
        : matches && route.id === winner
          ? 'wins'
          : 'matches';
  return (
    <>
      <strong>{route.name}</strong>
      {group !== undefined && <span class="about"> in {group.name}</span>} <code>{path?.value}</code> <span>{why}</span>
    </>
  );
}
