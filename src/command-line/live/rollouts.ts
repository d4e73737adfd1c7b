// Rollouts: started with steps, watched until they end.

import { setTimeout as pause } from 'node:timers/promises';
import type { RolloutEvent, ShadowFigures, ShownRollout } from '../../model/answers/rollout-answers.ts';
import type { RolloutTraffic, Stats, VariantTraffic } from '../../model/answers/stats-answers.ts';
import { parseDuration } from '../../model/duration.ts';
import { shadowKinds } from '../../model/shadow-kinds.ts';
import type { Session } from '../command-session.ts';
import type { Api } from '../connection/api-client.ts';
import { CommandFailure, exitCodes, failed, wrongUsage } from '../exit.ts';
import { durationText } from '../output/duration-text.ts';
import { bar, LiveLine } from '../terminal/live-line.ts';
import { fleetOf } from './fleet-wait.ts';

/** A server of an earlier version tells nothing of shadow steps. */
export type Rollout = Omit<ShownRollout, NewerFields> & Partial<Pick<ShownRollout, NewerFields>>;
type NewerFields = 'activated' | 'shadow';

/** Progress of a rollout. */
export type RolloutProgress = Pick<Rollout, 'share' | 'state' | 'step' | 'steps' | 'events'>;

/** Resolves with the figures of a rollout under way; undefined where the server does not tell them. */
export async function figuresOf(api: Api, id: string): Promise<RolloutTraffic | undefined> {
  const { status, body } = await api.ask<Partial<Stats>>('GET', '/stats', { allows: [404] });
  return status === 200 && body.rollout?.id === id ? body.rollout : undefined;
}

/** Reads `1,10,100`, each with its own hold where it is `1:30s`. */
export function stepsOf(text: string): readonly { readonly share: number; readonly hold?: string }[] {
  return text.split(',').map((part) => {
    const [share = '', hold] = part.trim().split(':');
    const isShare = /^\d+(\.\d+)?%?$/.test(share);
    if (!isShare || (hold !== undefined && parseDuration(hold) === undefined))
      throw wrongUsage(`steps must be shares such as 1,10,100 or 1:30s,10:1m,100, not ${text}`);
    return { share: Number(share.replace('%', '')), ...(hold !== undefined && { hold }) };
  });
}

export const isOver = ({ state }: Rollout): boolean => state !== 'running' && state !== 'paused';

const listRollouts = (api: Api): Promise<readonly Rollout[]> => api.get<readonly Rollout[]>('/rollouts');

/** The rollout of that id, else the one under way, else the last one. */
export async function findRollout(api: Api, id: string | undefined): Promise<Rollout> {
  if (id !== undefined) return await api.get<Rollout>(`/rollouts/${encodeURIComponent(id)}`);
  const [newest] = await listRollouts(api);
  if (newest === undefined) throw failed('there was no rollout yet');
  return newest;
}

const pollMs = 500;

/** Shows the rollout until it is over; resolves with the exit code. A paused one goes on being watched. */
export async function watchRollout(session: Session, id: string): Promise<number> {
  const api = await session.api();
  const line = new LiveLine(session.terminal);
  let told = 0;
  for (;;) {
    const rollout = await api.get<Rollout>(`/rollouts/${encodeURIComponent(id)}`);
    const { summary } = await fleetOf(api);
    const fleet = `fleet ${summary.current + summary.behind}/${summary.total - summary.disconnected}`;
    for (const event of rollout.events.slice(told)) {
      if (event.kind === 'step' || event.kind === 'started') continue;
      line.end();
      session.terminal.note(`rollout   ${eventText(event)}`);
    }
    told = rollout.events.length;
    if (!isOver(rollout)) {
      line.show(
        `${lineOf(rollout, await figuresOf(api, id))}   ${fleet}`,
        `rollout   ${shareText(rollout)}   ${rollout.state}`,
      );
      await pause(pollMs);
      continue;
    }
    line.end();
    return ended(session, rollout);
  }
}

/** Ends with what became of a rollout that is over. */
function ended({ terminal }: Session, rollout: Rollout): number {
  if (rollout.state === 'completed') {
    if (rollout.activated === false) {
      terminal.note(
        `done      ${rollout.shadow == null ? 'compared' : shadowText(rollout.shadow)} · nothing was activated`,
      );
      return exitCodes.done;
    }
    terminal.note(`done      live everywhere in ${durationText(lengthOf(rollout))} · undo: sluice rollback`);
    return exitCodes.done;
  }
  const why = rollout.events.findLast(({ kind }) => kind === 'guard failed' || kind === 'refused');
  const reason = why === undefined ? '' : `: ${eventText(why)}`;
  throw new CommandFailure(
    exitCodes.gaveUp,
    `the rollout ${rollout.id} ${rollout.state === 'aborted' ? 'was aborted' : 'went back'}${reason}; what was live before is live`,
  );
}

/** Milliseconds from its beginning to its last event. */
function lengthOf({ events }: Rollout): number {
  const [first, last] = [events[0]?.at, events.at(-1)?.at].map((at) => Date.parse(at ?? ''));
  return Math.max(0, (last ?? 0) - (first ?? 0)) || 0;
}

/** `rollout   ██░░░░ 10 %  2m left   errors 0.02 % (stable 0.03 %)   p99 41 ms (stable 40)` */
export function lineOf(rollout: RolloutProgress, figures?: Pick<RolloutTraffic, 'candidate' | 'stable'>): string {
  const parts = [`rollout   ${bar(rollout.share)} ${shareText(rollout)}  ${leftText(rollout)}`.trimEnd()];
  const compared = rollout.steps[rollout.step]?.shadow;
  if (compared !== undefined) parts.push(shadowText(compared));
  else if (figures !== undefined) {
    const { candidate, stable } = figures;
    parts.push(`errors ${percent(candidate.errorRate)} % (stable ${percent(stable.errorRate)} %)`);
    parts.push(`p99 ${msText(candidate)} ms (stable ${msText(stable)})`);
  }
  return parts.join('   ');
}

/** A variant without requests has no percentiles. */
const msText = ({ p99Ms }: VariantTraffic): string => (p99Ms === null ? '?' : String(Math.round(p99Ms)));

/** `1200 compared, 3 moved, 1 lost` */
export function shadowText(counts: ShadowFigures): string {
  const names = [...shadowKinds, 'undecided'] as const;
  const differences = names.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${words[name]}`);
  const told = differences.length === 0 ? ['all the same'] : differences;
  return [`${counts.requests} compared`, ...(counts.requests === 0 ? differences : told)].join(', ');
}

const words = {
  ...{ moved: 'moved', lost: 'lost', gained: 'gained', answersChanged: 'answered differently' },
  ...{ rejectedMore: 'rejected more', rejectedLess: 'rejected less', undecided: 'undecided' },
} as const;

const percent = (rate: number) => (rate * 100).toFixed(2);

const shareText = ({ share, steps, step }: RolloutProgress): string =>
  steps[step]?.shadow !== undefined
    ? 'shadow'
    : steps[step]?.labels === undefined
      ? `${share} %`
      : `labels ${JSON.stringify(steps[step]?.labels)}`;

/** Time that the holds of this step and the later ones take at least. */
function leftText({ state, steps, step, events }: RolloutProgress): string {
  if (state === 'paused') return 'paused';
  const began = events.findLast(({ kind }) => ['started', 'step', 'resumed', 'promoted'].includes(kind))?.at;
  const serving = steps.filter(({ shadow }) => shadow === undefined).length;
  const holds = steps
    .slice(step, serving === 0 ? undefined : -1)
    .reduce((sum, { hold }) => sum + (parseDuration(hold) ?? 0), 0);
  const left = holds - (began === undefined ? 0 : Date.now() - Date.parse(began));
  return left > 0 ? `${durationText(left)} left` : 'waiting for requests';
}

export function eventText({ kind, by, guard, values }: RolloutEvent): string {
  const figures = values === null ? '' : ` ${JSON.stringify(values)}`;
  return `${kind}${by === null ? '' : ` by ${by}`}${guard === null ? '' : ` ${guard}`}${figures}`;
}
