// Rollouts: steps, guards with the values they saw, stable beside candidate, progress of the proxies.
import { useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { messageOf, post } from '../lib/api.ts';
import { counted, moment, ms, percent } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { fleet, openRollout, refusal, rollouts } from '../lib/store.ts';
import type { Rollout } from '../lib/types.ts';
import { Act, Badge, Confirmation, Empty, PageLink, Problem, SimpleTable, type Tone } from '../parts/basics.tsx';
import { Guards } from './guards.tsx';
import { Shadow } from './shadow.tsx';

const tones: Readonly<Record<Rollout['state'], Tone>> = {
  running: 'warn',
  paused: 'warn',
  completed: 'good',
  rolledBack: 'bad',
  aborted: 'bad',
};

const stateWords: Readonly<Record<Rollout['state'], string>> = {
  running: 'running',
  paused: 'paused',
  completed: 'completed',
  rolledBack: 'rolled back',
  aborted: 'aborted',
};

export function RolloutPage() {
  const list = useLive(rollouts);
  const current = openRollout.value ?? list?.[0];
  return (
    <>
      <Problem text={rollouts.error.value} />
      {list?.length === 0 && (
        <Empty>
          No rollouts yet. Roll out what is <PageLink to="staged">staged</PageLink>, or a{' '}
          <PageLink to="snapshots">snapshot</PageLink>: clients get it in steps, and guards take it back.
        </Empty>
      )}
      {current !== undefined && <One key={current.id} rollout={current} />}
      {list !== undefined && list.length > 1 && (
        <>
          <h2>Earlier rollouts</h2>
          <SimpleTable
            name="Earlier rollouts"
            head={['Snapshot', 'Began', 'State', 'Why']}
            rows={list
              .filter(({ id }) => id !== current?.id)
              .map((each) => ({
                key: each.id,
                cells: [
                  each.name,
                  moment(each.events[0]?.at),
                  <Badge key="state" tone={tones[each.state]}>
                    {stateWords[each.state]}
                  </Badge>,
                  each.events.find(({ guard }) => guard !== null)?.guard ?? '',
                ],
              }))}
          />
        </>
      )}
    </>
  );
}

function One({ rollout }: { readonly rollout: Rollout }) {
  const proxies = useLive(fleet);
  const [isAborting, setAborting] = useState(false);
  const { id, name, state, step, steps, share, events, guards } = rollout;
  const refused = refusal('editor');
  const isOpen = state === 'running' || state === 'paused';
  const move = async (action: 'pause' | 'resume' | 'abort' | 'promote', body: object = {}): Promise<void> => {
    try {
      await post(`/rollouts/${encodeURIComponent(id)}/${action}`, body);
      say(`Rollout: ${action}.`);
    } catch (error) {
      say(messageOf(error), 'bad');
    }
    await rollouts.reload();
  };
  const failed = events.findLast(({ kind }) => kind === 'guard failed' || kind === 'refused');
  const have = proxies?.proxies.filter(({ candidate }) => candidate !== null).length ?? 0;
  return (
    <>
      <section class="card" aria-label="Current rollout">
        <div class="row">
          <h2>{name}</h2>
          <span role="status" aria-label="Rollout state">
            <Badge tone={tones[state]}>{stateWords[state]}</Badge>
          </span>
          {isOpen && <span>{share} %</span>}
          {isOpen && (
            <>
              {state === 'running' ? (
                <Act refused={refused} onAct={() => move('pause')}>
                  Pause rollout
                </Act>
              ) : (
                <Act refused={refused} onAct={() => move('resume')}>
                  Resume rollout
                </Act>
              )}
              <Act refused={refused} onAct={() => move('promote')}>
                Next step
              </Act>
              <Act refused={refused} onAct={() => move('promote', { share: 100 })}>
                Finish
              </Act>
              <Act kind="danger" refused={refused} onAct={() => setAborting(true)}>
                Abort
              </Act>
            </>
          )}
        </div>
        {failed !== undefined && (
          <p class="problem" role="alert">
            {failed.kind === 'refused' ? 'A proxy refuses the candidate. ' : 'A guard failed: '}
            {failed.guard !== null && <code>{failed.guard}</code>} <Values values={failed.values} />
          </p>
        )}
        <ol class="steps">
          {steps.map((each, at) => (
            <li
              key={at}
              class={at < step || state === 'completed' ? 'done' : at === step && isOpen ? 'now' : ''}
              aria-current={at === step && isOpen ? 'step' : undefined}
            >
              {stepText(each)} <span class="about">{each.hold === undefined ? '' : holdText(each.hold)}</span>
            </li>
          ))}
        </ol>
        {isOpen && (
          <p>
            {counted(have, 'proxy')} of {proxies?.summary.total ?? '…'} have the candidate.
          </p>
        )}
      </section>
      {rollout.shadow && <Shadow rollout={rollout} />}
      <Guards rollout={rollout} guards={guards} />
      <section class="card">
        <h2>Events</h2>
        <SimpleTable
          name="Events"
          head={['When', 'What', 'By', 'Guard', 'Values']}
          rows={[...events].reverse().map((event, at) => ({
            key: `${event.at}/${events.length - at}`,
            cells: [
              moment(event.at),
              event.kind === 'rolledBack' ? stateWords.rolledBack : event.kind,
              event.by ?? '',
              event.guard ?? '',
              <Values key="values" values={event.values} />,
            ],
          }))}
        />
      </section>
      {isAborting && (
        <Confirmation
          title="Abort the rollout"
          text="All traffic goes back to what is active."
          onConfirm={() => move('abort')}
          onClose={() => setAborting(false)}
        />
      )}
    </>
  );
}

function stepText({ share, labels, shadow }: Rollout['steps'][number]): string {
  if (shadow !== undefined) return 'compare only';
  return share === undefined ? `proxies with ${JSON.stringify(labels)}` : `${share} %`;
}

/** Seconds as they are spoken: `600s` is 10 min. */
function holdText(hold: string): string {
  const seconds = Number(/^(\d+)s$/.exec(hold)?.[1]);
  if (Number.isNaN(seconds)) return hold;
  if (seconds === 0) return '';
  return seconds % 60 === 0 ? `for ${seconds / 60} min` : `for ${seconds} s`;
}

/** Values that a guard saw: of the variants, and of other objects the numbers, each by its name. */
function Values({ values }: { readonly values: unknown }) {
  if (typeof values !== 'object' || values === null) return null;
  const { candidate, stable, ...rest } = values as Record<string, unknown>;
  const about = (side: unknown): string => {
    const { requests, errorRate, p99Ms } = Object(side) as Record<string, number | undefined>;
    return `${requests ?? '–'} requests, ${percent(errorRate)} errors, p99 ${ms(p99Ms)}`;
  };
  return (
    <ul class="values">
      {candidate !== undefined && <li>candidate: {about(candidate)}</li>}
      {stable !== undefined && <li>stable: {about(stable)}</li>}
      {Object.keys(rest).length > 0 && <li class="about">{Object.entries(rest).map(valueText).join('; ')}</li>}
    </ul>
  );
}

function valueText([name, value]: readonly [name: string, value: unknown]): string {
  if (typeof value === 'number') return `${name} ${Number(value.toPrecision(3))}`;
  if (typeof value !== 'object' || value === null) return `${name} ${String(value)}`;
  return `${name}: ${Object.entries(value).map(valueText).join(', ')}`;
}
