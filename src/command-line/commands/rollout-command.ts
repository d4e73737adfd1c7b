// `rollout …`: progressive activation.
import type { RolloutTraffic } from '../../model/answers/stats-answers.ts';
import { command } from '../command-declaration.ts';
import { exitCodes } from '../exit.ts';
import { numberGiven } from '../flag-values.ts';
import { startRollout } from '../live/activation.ts';
import {
  eventText,
  figuresOf,
  findRollout,
  isOver,
  lineOf,
  type Rollout,
  shadowText,
  stepsOf,
  watchRollout,
} from '../live/rollouts.ts';
import { agoText } from '../output/duration-text.ts';
import { show, showValue } from '../output/form.ts';
import { findSnapshot } from '../plan/cluster-state.ts';

const one = { name: 'ROLLOUT', brief: 'Id; default: the one under way, else the last', optional: true } as const;

export const rolloutStart = command({
  words: 'rollout start',
  brief: 'Give a snapshot to some before all',
  arguments: [{ name: 'SNAPSHOT', brief: 'Name or id' }],
  flags: {
    steps: { kind: 'text', value: 'SHARES', brief: '1,10,100, or 1:30s,10:1m,100 with holds' },
    shadow: {
      kind: 'text',
      value: 'HOLD',
      brief: 'Compare requests for so long first, and serve none; without --steps nothing follows',
    },
    shadowSample: { kind: 'text', value: 'N', brief: 'Compare one request in so many' },
    by: { kind: 'text', value: 'WHAT', choices: ['client', 'proxy'], brief: 'What a share is of' },
    guard: { kind: 'texts', value: 'CEL', brief: 'Must hold while it goes on' },
    onFail: {
      kind: 'text',
      value: 'WHAT',
      choices: ['rollback', 'pause'],
      brief: 'What becomes of it when a guard fails',
    },
    minRequests: { kind: 'text', value: 'N', brief: 'Requests that a step needs' },
    comment: { kind: 'text', value: 'TEXT', brief: 'Kept with it' },
    wait: { kind: 'switch', brief: 'Watch it until it is over' },
  },
  examples: [
    { line: 'sluice rollout start v7 --steps 1,10,100 --wait', does: 'goes on step by step and shows how' },
    {
      line: 'sluice rollout start v7 --shadow 5m --wait',
      does: 'compares the requests of five minutes and activates nothing',
    },
  ],
  async run(session, [name = ''], { steps, shadow, shadowSample, by, guard, onFail, minRequests, comment, wait }) {
    const body = {
      ...stepsFrom(steps, shadow),
      ...(shadowSample !== undefined && { shadowSample: numberGiven('shadow-sample', shadowSample) }),
      ...(by !== undefined && { by }),
      ...(guard.length > 0 && { guards: guard }),
      ...(onFail !== undefined && { onFail }),
      ...(minRequests !== undefined && { minRequests: numberGiven('min-requests', minRequests, { min: 0 }) }),
      ...(comment !== undefined && { comment }),
    };
    const api = await session.api();
    const { id } = await findSnapshot(api, name);
    session.underWay = 'the rollout may have begun; sluice rollout status tells, sluice rollout abort undoes';
    const rollout = await startRollout(api, id, body);
    session.underWay = `the rollout ${rollout.id} goes on without this command · undo: sluice rollout abort`;
    if (wait) return await watchRollout(session, rollout.id);
    session.terminal.note(
      `rollout   ${rollout.id} has begun · watch: sluice rollout watch · undo: sluice rollout abort`,
    );
    return exitCodes.done;
  },
});

/** Without either the server has its own steps. */
function stepsFrom(steps: string | undefined, shadow: string | undefined): { steps?: readonly object[] } {
  if (steps === undefined && shadow === undefined) return {};
  const first = shadow === undefined ? [] : [{ shadow: true, hold: shadow }];
  return { steps: [...first, ...(steps === undefined ? [] : stepsOf(steps))] };
}

export const rolloutStatus = command({
  words: 'rollout status',
  brief: 'Show a rollout and what happened in it',
  arguments: [one],
  hasForms: true,
  async run(session, [id]) {
    const api = await session.api();
    const rollout = await findRollout(api, id);
    const figures = isOver(rollout) ? undefined : await figuresOf(api, rollout.id);
    await showValue(session.terminal, session.form, rollout, () => statusText(rollout, figures));
    return rollout.state === 'rolledBack' ? exitCodes.gaveUp : exitCodes.done;
  },
});

function statusText(rollout: Rollout, figures: RolloutTraffic | undefined): string {
  const lines = [`${rollout.id}  ${rollout.state}  ${JSON.stringify(rollout.name ?? rollout.snapshotId)}`];
  if (!isOver(rollout)) lines.push(lineOf(rollout, figures));
  if (rollout.shadow != null) lines.push(`shadow    ${shadowText(rollout.shadow)}`);
  for (const guard of rollout.guards) lines.push(`guard     ${guard}`);
  for (const event of rollout.events) lines.push(`${agoText(event.at).padEnd(14)}${eventText(event)}`);
  return `${lines.join('\n')}\n`;
}

export const rolloutList = command({
  words: 'rollout list',
  brief: 'List rollouts, the newest first',
  hasForms: true,
  async run(session) {
    const items = await (await session.api()).get<Rollout[]>('/rollouts');
    await show(session.terminal, session.form, {
      items,
      columns: [
        { title: 'id', cell: ({ id }) => id },
        { title: 'snapshot', cell: ({ name, snapshotId }) => name ?? snapshotId },
        { title: 'state', cell: ({ state }) => state },
        { title: 'share', isNumber: true, cell: ({ share }) => `${share} %` },
        { title: 'began', cell: ({ events }) => agoText(events[0]?.at) },
      ],
      nameOf: ({ id }) => id,
      empty: 'no rollouts',
    });
    return undefined;
  },
});

export const rolloutWatch = command({
  words: 'rollout watch',
  brief: 'Show a rollout until it is over; exit code 6 when it went back',
  arguments: [one],
  isEndless: true,
  async run(session, [id]) {
    const rollout = await findRollout(await session.api(), id);
    session.underWay = `the rollout ${rollout.id} goes on without this command · undo: sluice rollout abort`;
    return await watchRollout(session, rollout.id);
  },
});

/** A command that moves a rollout. */
const move = (action: 'pause' | 'resume' | 'promote' | 'abort', brief: string) =>
  command({
    words: `rollout ${action}`,
    brief,
    arguments: [one],
    flags: action === 'promote' ? { finish: { kind: 'switch', brief: 'To its end at once' } } : {},
    async run(session, [id], flags) {
      const api = await session.api();
      const rollout = await findRollout(api, id);
      const json = 'finish' in flags && flags.finish ? { json: { share: 100 } } : {};
      const { body } = await api.ask<Rollout>('POST', `/rollouts/${rollout.id}/${action}`, json);
      session.terminal.note(`rollout   ${body.id} is ${body.state} at ${body.share} %`);
      return exitCodes.done;
    },
  });

export const rolloutPause = move('pause', 'Keep the share as it is until it is resumed');
export const rolloutResume = move('resume', 'Go on; the step under way begins anew');
export const rolloutPromote = move('promote', 'Go to the next step now, without regard to the guards');
export const rolloutAbort = move('abort', 'Go back to what is active');
