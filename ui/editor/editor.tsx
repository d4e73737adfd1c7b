// Editor of one resource: a form beside its YAML. What is typed stays through every refusal; an edit that overtook it is
// shown field by field.
import { useEffect, useRef, useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { ApiError, call, messageOf } from '../lib/api.ts';
import { shown } from '../lib/format.ts';
import { useWatched, watchEvents } from '../lib/live.ts';
import { refusal } from '../lib/store.ts';
import { type EditedKind, type Entity, type Json, type JsonObject, nounOf } from '../lib/types.ts';
import { Act, Confirmation, Problem } from '../parts/basics.tsx';
import { differingPointers, type Fault, faultsOf, isObject, valueAt } from './json-values.ts';
import { type Schema, schemaOf } from './schema.ts';
import { ObjectForm } from './schema-form.tsx';

interface Loaded {
  readonly schema: Schema;
  readonly resolve: (schema: Schema) => Schema;
  readonly yaml: typeof import('./resource-yaml.ts');
}

interface Conflict {
  readonly theirs: JsonObject;
  readonly etag: string;
}

export function Editor({
  kind,
  id,
  initial,
  onDone,
}: {
  readonly kind: EditedKind;
  /** Undefined: a new one. */
  readonly id: string | undefined;
  readonly initial?: JsonObject;
  readonly onDone: (id: string | undefined) => void;
}) {
  const noun = nounOf(kind);
  const [loaded, setLoaded] = useState<Loaded>();
  const [value, setValue] = useState<JsonObject>(initial ?? {});
  const [etag, setEtag] = useState<string>();
  const [tab, setTab] = useState<'form' | 'yaml'>('form');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [conflict, setConflict] = useState<Conflict>();
  const [isOvertaken, setOvertaken] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const revision = useRef(0);
  const path = `/${kind}/${encodeURIComponent(id ?? '')}`;
  const [watched] = useState(() =>
    watchEvents(['staged'], ({ ids, index, event }) => {
      if (event !== 'reset' && id !== undefined && ids.includes(id) && index > revision.current) setOvertaken(true);
    }),
  );
  useWatched(watched);

  useEffect(() => {
    void (async () => {
      try {
        const [{ schema, resolve }, yaml] = await Promise.all([schemaOf(kind), import('./resource-yaml.ts')]);
        if (id !== undefined) {
          const answer = await call<Entity>('GET', path);
          setValue(answer.body as unknown as JsonObject);
          setEtag(answer.headers.get('etag') ?? undefined);
          revision.current = revisionOf(answer.headers.get('etag'));
        }
        setLoaded({ schema, resolve, yaml });
      } catch (error) {
        setProblem(messageOf(error));
      }
    })();
  }, [kind, id, path]);

  if (loaded === undefined) return problem === undefined ? <p>Loading …</p> : <Problem text={problem} />;
  const { schema, resolve, yaml } = loaded;

  /** Returns the value as it is edited; undefined where its YAML cannot be read. */
  const edited = (): JsonObject | undefined => {
    if (tab === 'form') return value;
    try {
      const read = yaml.parse(text);
      if (!isObject(read)) throw new Error('this must be an object');
      return read;
    } catch (error) {
      setProblem(`YAML: ${error instanceof Error ? error.message : String(error)}`);
      setFaults([{ pointer: '', message: 'this cannot be read' }]);
      return undefined;
    }
  };
  const show = (next: 'form' | 'yaml'): void => {
    if (next === tab) return;
    if (next === 'yaml') setText(yaml.stringify(value));
    else {
      const read = edited();
      if (read === undefined) return;
      setValue(read);
    }
    setTab(next);
  };
  const refuse = (error: unknown): void => {
    const found = error instanceof ApiError && error.status < 500 ? faultsOf(error.message) : [];
    setFaults(found);
    setProblem(messageOf(error));
  };
  const save = async (): Promise<void> => {
    const body = edited();
    if (body === undefined) return;
    setProblem(undefined);
    setFaults([]);
    try {
      const headers = etag === undefined ? {} : { 'If-Match': etag };
      const answer =
        id === undefined
          ? await call<Entity>('POST', `/${kind}`, { body })
          : await call<Entity>('PUT', path, { body, headers });
      revision.current = revisionOf(answer.headers.get('etag'));
      say(`The ${noun} ${answer.body.name} is staged.`);
      const warning = answer.headers.get('warning');
      if (warning !== null) say(warning, 'bad');
      onDone(answer.body.id);
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await showConflict();
      else refuse(error);
    }
  };
  const showConflict = async (): Promise<void> => {
    setProblem(`This ${noun} was changed meanwhile. What you typed is kept.`);
    try {
      const { body, headers } = await call<JsonObject>('GET', path);
      setConflict({ theirs: body, etag: headers.get('etag') ?? '' });
    } catch (error) {
      refuse(error);
    }
  };
  const remove = async (): Promise<void> => {
    try {
      await call('DELETE', path, { headers: etag === undefined ? {} : { 'If-Match': etag } });
      say(`The ${noun} is deleted from what is staged.`);
      onDone(undefined);
    } catch (error) {
      refuse(error);
    }
  };
  const refused = refusal('editor');
  const title = id === undefined ? `New ${noun}` : `Edit ${noun} ${String(value.name ?? id)}`;
  return (
    <section class="card editor" aria-label={title}>
      <h2>{title}</h2>
      {isOvertaken && conflict === undefined && (
        <p class="notice" role="status">
          This {noun} was changed meanwhile by another caller.
        </p>
      )}
      <div role="tablist" aria-label="Views" class="tabs">
        {(['form', 'yaml'] as const).map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={tab === each}
            aria-controls="editor-panel"
            tabIndex={tab === each ? 0 : -1}
            onClick={() => show(each)}
            onKeyDown={({ key }) =>
              (key === 'ArrowRight' || key === 'ArrowLeft') && show(each === 'form' ? 'yaml' : 'form')
            }
          >
            {each === 'form' ? 'Form' : 'YAML'}
          </button>
        ))}
      </div>
      <Problem text={problem} />
      {conflict !== undefined && (
        <Differences
          mine={tab === 'form' ? value : (tryRead(yaml, text) ?? value)}
          theirs={conflict.theirs}
          onKeep={() => {
            setEtag(conflict.etag);
            revision.current = revisionOf(conflict.etag);
            setConflict(undefined);
            setOvertaken(false);
            setProblem(undefined);
          }}
          onTake={() => {
            setValue(conflict.theirs);
            setText(yaml.stringify(conflict.theirs));
            setEtag(conflict.etag);
            revision.current = revisionOf(conflict.etag);
            setConflict(undefined);
            setOvertaken(false);
            setProblem(undefined);
          }}
        />
      )}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div id="editor-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {tab === 'form' ? (
            <ObjectForm
              schema={schema}
              resolve={resolve}
              value={value}
              faults={faults}
              pointer=""
              onChange={(next) => setValue(isObject(next) ? next : {})}
            />
          ) : (
            <textarea
              class="yaml"
              aria-label="YAML"
              aria-invalid={faults.length > 0 ? 'true' : undefined}
              spellcheck={false}
              rows={Math.max(14, Math.min(40, text.split('\n').length + 1))}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
        </div>
        <div class="row">
          <Act kind="main" refused={refused} onAct={save}>
            Save
          </Act>
          <button type="button" onClick={() => onDone(id)}>
            Cancel
          </button>
          {id !== undefined && (
            <Act kind="danger" refused={refused} onAct={() => setDeleting(true)}>
              Delete
            </Act>
          )}
        </div>
      </form>
      {isDeleting && (
        <Confirmation
          title={`Delete this ${noun}`}
          text={`It is removed from what is staged. What is active stays as it is until the next activation.`}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  );
}

const revisionOf = (etag: string | null): number => Number(/\d+/.exec(etag ?? '')?.[0] ?? 0);

function tryRead(yaml: Loaded['yaml'], text: string): JsonObject | undefined {
  try {
    const read = yaml.parse(text);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function Differences({
  mine,
  theirs,
  onKeep,
  onTake,
}: {
  readonly mine: Json;
  readonly theirs: Json;
  readonly onKeep: () => void;
  readonly onTake: () => void;
}) {
  const pointers = differingPointers(mine, theirs);
  return (
    <section class="conflict" aria-label="Fields that differ">
      <h3>Fields that differ</h3>
      {pointers.length === 0 && <p>Both are the same by now.</p>}
      <dl>
        {pointers.map((pointer) => (
          <div key={pointer}>
            <dt>{pointer}</dt>
            <dd>
              Yours: <code>{shown(valueAt(mine, pointer))}</code>
            </dd>
            <dd>
              Staged now: <code>{shown(valueAt(theirs, pointer))}</code>
            </dd>
          </div>
        ))}
      </dl>
      <div class="row">
        <button type="button" onClick={onKeep}>
          Keep mine
        </button>
        <button type="button" onClick={onTake}>
          Take what is staged
        </button>
      </div>
    </section>
  );
}
