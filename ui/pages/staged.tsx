// Difference of what is staged and what is active: by resource and owner, to be discarded, captured, activated or rolled out.
import { useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { messageOf, post } from '../lib/api.ts';
import { counted, moment, shown } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { pages } from '../lib/pages.ts';
import { go } from '../lib/router.ts';
import { activeSnapshot, refusal, snapshots, staged, stagedCount } from '../lib/store.ts';
import { type EntityChange, nounOf, type SnapshotSummary } from '../lib/types.ts';
import { Act, Badge, Confirmation, Empty, Field, PageLink, Problem, type Tone } from '../parts/basics.tsx';
import { Impact } from './impact.tsx';

interface Warned {
  readonly warnings?: readonly { readonly pointer: string; readonly message: string }[];
}

const groups = [
  { list: 'created', word: 'new', tone: 'good' },
  { list: 'changed', word: 'changed', tone: 'warn' },
  { list: 'deleted', word: 'deleted', tone: 'bad' },
] as const satisfies readonly { list: string; word: string; tone: Tone }[];

const shownMax = 500;
/** Characters that the API takes for a comment. */
const commentMax = 500;

export function Staged() {
  const difference = useLive(staged);
  useLive(snapshots);
  const [name, setName] = useState('');
  const [comment, setComment] = useState('');
  const [problem, setProblem] = useState<string>();
  const [warnings, setWarnings] = useState<Warned['warnings']>([]);
  const [isBusy, setBusy] = useState(false);
  const [isDiscarding, setDiscarding] = useState(false);
  const refused = refusal('editor');

  const act = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    setWarnings([]);
    try {
      await work();
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy(false);
      await Promise.all([staged.reload(), snapshots.reload()]);
    }
  };
  const capture = async (): Promise<SnapshotSummary> => {
    const wanted = name.trim() || `snapshot ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`;
    const made = await post<SnapshotSummary & Warned>('/snapshots', { name: wanted });
    setWarnings(made.warnings ?? []);
    return made;
  };
  const activate = (): Promise<void> =>
    act(async () => {
      const made = await capture();
      await post(`/snapshots/${encodeURIComponent(made.id)}/activate`, audit());
      setName('');
      setComment('');
      say(`${made.name} is active.`);
    });
  const captureOnly = (): Promise<void> =>
    act(async () => {
      const made = await capture();
      setName('');
      say(`${made.name} is captured: Snapshots activates it.`);
    });
  /** Comment on an activation or a rollout, for those who look at it later. */
  const audit = (): object => (comment.trim() === '' ? {} : { comment: comment.trim() });
  const rollOut = (): Promise<void> =>
    act(async () => {
      const made = await capture();
      await post(`/snapshots/${encodeURIComponent(made.id)}/rollout`, audit());
      say(`The rollout of ${made.name} has begun.`);
      go('rollout');
    });
  const discard = (body: object): Promise<void> =>
    act(async () => {
      await post('/staged/discard', body);
      say('Discarded: what is staged is what is active again.');
    });
  const confirm = (): Promise<void> =>
    act(async () => {
      await post(`/snapshots/${encodeURIComponent(activeSnapshot.value?.id ?? '')}/confirm`);
      say('Confirmed: it stays active.');
    });
  const confirmBy = activeSnapshot.value?.confirmBy;
  return (
    <>
      {confirmBy !== undefined && confirmBy !== null && (
        <section class="card notice">
          <p>
            {activeSnapshot.value?.name} goes back by itself unless it is confirmed by {moment(confirmBy)}.
          </p>
          <Act kind="main" refused={refused} onAct={confirm}>
            Confirm
          </Act>
        </section>
      )}
      <section class="card">
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void activate();
          }}
        >
          <Field label="Snapshot name">
            {(id) => (
              <input
                id={id}
                type="text"
                autocomplete="off"
                value={name}
                onInput={(event) => setName(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Comment">
            {(id) => (
              <input
                id={id}
                type="text"
                autocomplete="off"
                maxLength={commentMax}
                value={comment}
                onInput={(event) => setComment(event.currentTarget.value)}
              />
            )}
          </Field>
          <Act kind="main" refused={refused} disabled={isBusy} onAct={activate}>
            Capture and activate
          </Act>
          <Act refused={refused} disabled={isBusy || activeSnapshot.value === undefined} onAct={rollOut}>
            Roll out
          </Act>
          <Act refused={refused} disabled={isBusy} onAct={captureOnly}>
            Capture only
          </Act>
          <Act
            kind="danger"
            refused={refused}
            disabled={isBusy || stagedCount.value === 0 || activeSnapshot.value === undefined}
            onAct={() => setDiscarding(true)}
          >
            Discard all
          </Act>
        </form>
        <Problem text={problem ?? staged.error.value} />
        {(warnings?.length ?? 0) > 0 && (
          <ul class="notice" aria-label="Warnings">
            {warnings?.map(({ pointer, message }) => (
              <li key={pointer}>
                <code>{pointer}</code> {message}
              </li>
            ))}
          </ul>
        )}
      </section>
      {difference !== undefined && stagedCount.value === 0 && <Empty>Nothing is staged: it is what is active.</Empty>}
      {difference !== undefined &&
        groups.map(({ list, word, tone }) => {
          const all = difference[list];
          return all.length === 0 ? null : (
            <section key={list} class="card">
              <h2>
                <Badge tone={tone}>{word}</Badge> {counted(all.length, 'resource')}
              </h2>
              <ul class="changes">
                {all.slice(0, shownMax).map((change) => (
                  <li key={`${change.kind}/${change.id}`}>
                    <Change change={change} isGone={list === 'deleted'} />
                    <Act
                      refused={refused}
                      disabled={isBusy}
                      onAct={() => discard({ entities: [{ kind: change.kind, id: change.id }] })}
                    >
                      Discard <span class="hidden">{change.name ?? change.id}</span>
                    </Act>
                  </li>
                ))}
              </ul>
              {all.length > shownMax && <p class="about">{counted(all.length - shownMax, 'further resource')}.</p>}
            </section>
          );
        })}
      {difference !== undefined && stagedCount.value > 0 && <Impact difference={difference} />}
      {isDiscarding && (
        <Confirmation
          title="Discard all that is staged"
          text={`${counted(stagedCount.value, 'change')} of every owner are lost: what is staged becomes what is active.`}
          onConfirm={() => discard({})}
          onClose={() => setDiscarding(false)}
        />
      )}
    </>
  );
}

function Change({ change, isGone }: { readonly change: EntityChange; readonly isGone: boolean }) {
  const { kind, id, name, owner, changes = [] } = change;
  const slug = kind === 'streamRoutes' ? 'routes' : pages.find((page) => page.slug === kind)?.slug;
  const base = kind === 'streamRoutes' ? { kind } : {};
  return (
    <div>
      <strong>
        {nounOf(kind)}{' '}
        {slug === undefined || isGone ? (
          (name ?? id)
        ) : (
          <PageLink to={slug} query={{ ...base, id }}>
            {name ?? id}
          </PageLink>
        )}
      </strong>
      {owner !== undefined && owner !== null && <span class="about"> of {owner}</span>}
      {changes.length > 0 && (
        <dl class="pointers">
          {changes.map(({ pointer, from, to }) => (
            <div key={pointer}>
              <dt>
                <code>{pointer}</code>
              </dt>
              <dd>
                <del>{shown(from)}</del> → <ins>{shown(to)}</ins>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
