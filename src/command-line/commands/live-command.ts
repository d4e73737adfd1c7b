// `activate`, `confirm`, `rollback`, `history`: what is live, and the way back.
import type { ActivationRecord } from '../../model/answers/activation-record.ts';
import { parseDuration } from '../../model/duration.ts';
import type { SnapshotSummary } from '../../model/snapshot.ts';
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import { exitCodes, failed, wrongUsage } from '../exit.ts';
import { activate, activationFlags, checkActivation, giveToProxies, waitLimit } from '../live/activation.ts';
import { waitForFleet, wantedOf } from '../live/fleet-wait.ts';
import { agoText, minuteText } from '../output/duration-text.ts';
import { show } from '../output/form.ts';
import { findSnapshot } from '../plan/cluster-state.ts';

const { wait, waitFor, confirm, rollout, comment } = activationFlags;

export const activateCommand = command({
  words: 'activate',
  brief: 'Make a snapshot live',
  arguments: [{ name: 'SNAPSHOT', brief: 'Name or id' }],
  flags: {
    wait,
    waitFor,
    confirm,
    rollout,
    comment,
    force: { kind: 'switch', brief: 'Abort a rollout that is under way' },
  },
  examples: [
    { line: 'sluice activate v7 --wait all', does: 'makes it live and waits until every proxy has it' },
    {
      line: 'sluice activate v7 --confirm 5m',
      does: 'goes back by itself unless sluice confirm comes within five minutes',
    },
  ],
  async run(session, [name = ''], flags) {
    checkActivation({ ...flags, activate: true, snapshotName: undefined, failOn: undefined });
    const api = await session.api();
    const { id } = await findSnapshot(api, name);
    const { force, ...others } = flags;
    session.underWay = 'it may be live; sluice history tells, sluice rollback undoes';
    const atOnce = others.confirm === undefined && others.rollout === undefined;
    const index = atOnce
      ? await activate(api, id, {
          ...(force && { force: 'true' }),
          ...(others.comment !== undefined && { comment: others.comment }),
        })
      : 0;
    return await giveToProxies(session, { id, index }, others);
  },
});

export const confirmCommand = command({
  words: 'confirm',
  brief: 'Keep what was activated with --confirm',
  arguments: [{ name: 'SNAPSHOT', brief: 'Name or id; default: the active one', optional: true }],
  async run(session, [name = 'active']) {
    const api = await session.api();
    const { id, name: found } = await findSnapshot(api, name);
    await api.ask('POST', `/snapshots/${id}/confirm`);
    session.terminal.note(`confirmed ${JSON.stringify(found)} stays live`);
    return exitCodes.done;
  },
});

export const rollbackCommand = command({
  words: 'rollback',
  brief: 'Make live again what was live before',
  text: 'During a rollout this is refused: `sluice rollout abort` undoes that. What is staged is not touched.',
  flags: {
    to: { kind: 'text', value: 'SNAPSHOT', brief: 'Another one than the one before, by name or id' },
    comment,
    wait,
    waitFor,
  },
  examples: [{ line: 'sluice rollback', does: 'undoes the last activation' }],
  async run(session, _, flags) {
    if (flags.wait !== undefined) wantedOf(flags.wait);
    const limitMs = waitLimit(flags.waitFor);
    session.underWay = 'it may be live; sluice history tells';
    const json = flags.comment === undefined ? {} : { comment: flags.comment };
    const { name, index } = flags.to === undefined ? await back(session, json) : await backTo(session, flags.to, json);
    session.terminal.note(`live      ${JSON.stringify(name)} again (index ${index})`);
    if (flags.wait !== undefined) await waitForFleet(session, index, wantedOf(flags.wait), limitMs);
    return exitCodes.done;
  },
});

interface Went {
  readonly name: string;
  readonly index: number;
}

async function back(session: Session, json: object): Promise<Went> {
  const api = await session.api();
  const { body, headers } = await api.ask<SnapshotSummary>('POST', '/rollback', { json });
  return { name: body.name, index: Number(headers['x-sluice-revision'] ?? 0) };
}

async function backTo(session: Session, to: string, json: { readonly comment?: string }): Promise<Went> {
  const api = await session.api();
  const { id, name } = await findSnapshot(api, to);
  return { name, index: await activate(api, id, json) };
}

export const historyCommand = command({
  words: 'history',
  brief: 'List what was live when, by which key and why',
  flags: {
    limit: { kind: 'text', value: 'N', brief: 'How many; default 20' },
    at: { kind: 'text', value: 'TIME', brief: 'What was live then: a timestamp, or 2h for two hours ago' },
  },
  hasForms: true,
  examples: [{ line: 'sluice history --at 2h', does: 'shows what was live two hours ago' }],
  async run(session, _, { limit = '20', at }) {
    const query = { limit, ...(at !== undefined && { at: momentOf(at) }) };
    const items = await (await session.api()).get<ActivationRecord[]>('/activations', query);
    await show(session.terminal, session.form, {
      items,
      columns: [
        { title: 'at', cell: ({ at: time }) => minuteText(new Date(time)) },
        { title: 'age', cell: ({ at: time }) => agoText(time) },
        { title: 'snapshot', cell: ({ name }) => name },
        { title: 'reason', cell: ({ reason }) => reason },
        { title: 'by', cell: ({ by }) => by ?? '' },
        { title: 'comment', cell: ({ comment: text }) => text ?? '' },
        { title: 'index', isNumber: true, cell: ({ index }) => String(index) },
        { title: 'id', isWide: true, cell: ({ snapshotId }) => snapshotId },
      ],
      nameOf: ({ name }) => name,
      empty: 'nothing was live yet',
    });
    return undefined;
  },
});

/** A timestamp, or the moment that long ago. Throws wrong usage. */
function momentOf(text: string): string {
  const ago = parseDuration(text);
  if (ago !== undefined) return new Date(Date.now() - ago).toISOString();
  if (Number.isNaN(Date.parse(text)))
    throw wrongUsage(`--at must be a timestamp such as 2026-03-30T14:22:01Z or a duration, not ${text}`);
  return new Date(text).toISOString();
}

/** Id of the snapshot that was live then. */
export async function snapshotLiveAt(session: Session, moment: string): Promise<string> {
  const [found] = await (await session.api()).get<ActivationRecord[]>('/activations', { at: momentOf(moment) });
  if (found === undefined) throw failed(`nothing was live at ${moment}`);
  return found.snapshotId;
}
