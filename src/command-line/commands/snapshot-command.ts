// `snapshot …`: captures of what is staged.
import type { CreatedSnapshot } from '../../model/answers/snapshot-answers.ts';
import type { SnapshotSummary } from '../../model/snapshot.ts';
import { command } from '../command-declaration.ts';
import type { Api, Asked } from '../connection/api-client.ts';
import { ApiRefusal } from '../connection/failed-answers.ts';
import { exitCodes } from '../exit.ts';
import { agoText, minuteText } from '../output/duration-text.ts';
import { failOnFlag, severityGiven } from '../output/finding-lines.ts';
import { show } from '../output/form.ts';
import type { Column } from '../output/text-table.ts';
import { findSnapshot } from '../plan/cluster-state.ts';

const columns: readonly Column<SnapshotSummary>[] = [
  { title: 'name', cell: ({ name }) => name },
  { title: 'active', cell: ({ active }) => (active ? 'yes' : '') },
  { title: 'created', cell: ({ createdAt }) => minuteText(new Date(createdAt)) },
  { title: 'age', cell: ({ createdAt }) => agoText(createdAt) },
  { title: 'owner', cell: ({ owner }) => owner ?? '' },
  { title: 'id', cell: ({ id }) => id },
];

type Captured = Pick<CreatedSnapshot, 'id' | 'name' | 'createdAt'> & Partial<Pick<CreatedSnapshot, 'warnings'>>;

/** Captures under a given name, or the time, with a number where another capture of that second has it. */
async function captured(api: Api, given: string | undefined, query: Asked['query'] = {}): Promise<Captured> {
  const name = given ?? `staged ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`;
  for (let n = 1; ; n++) {
    const json = { name: n === 1 ? name : `${name} (${n})` };
    try {
      return (await api.ask<Captured>('POST', '/snapshots', { json, query })).body;
    } catch (error) {
      const isTaken =
        error instanceof ApiRefusal && error.status === 409 && error.reason.includes(`named "${json.name}"`);
      if (!isTaken || given !== undefined || n === capturesMax) throw error;
    }
  }
}

/** Captures of one second under names of their own. */
const capturesMax = 100;

export const snapshotCreate = command({
  words: 'snapshot create',
  brief: 'Capture what is staged',
  text: 'All that is staged becomes part of it, edits of others, too. It is not live by that.',
  arguments: [{ name: 'NAME', brief: 'Name; default: the time', optional: true }],
  flags: { strict: { kind: 'switch', brief: 'Refuse it when a reference leads nowhere' }, failOn: failOnFlag },
  hasForms: true,
  examples: [{ line: 'sluice snapshot create v7', does: 'captures what is staged as v7' }],
  async run(session, [given], { strict, failOn }) {
    const query = {
      ...(strict && { strict: 'true' }),
      ...(failOn !== undefined && { failOn: severityGiven(failOn) }),
    };
    const api = await session.api();
    const { name, warnings = [], id, createdAt } = await captured(api, given, query);
    for (const { pointer, message } of warnings) session.terminal.warn(`${pointer} ${message}`);
    const summary = { id, name, createdAt, active: false };
    if (session.form.is === 'table')
      session.terminal.note(`snapshot  ${id} ${JSON.stringify(name)} · make it live: sluice activate ${id}`);
    else
      await show(session.terminal, session.form, {
        items: [summary],
        value: summary,
        columns,
        nameOf: () => `snapshots/${name}`,
      });
    return undefined;
  },
});

export const snapshotList = command({
  words: 'snapshot list',
  brief: 'List snapshots',
  hasForms: true,
  async run(session) {
    const items = await (await session.api()).get<SnapshotSummary[]>('/snapshots');
    await show(session.terminal, session.form, {
      items,
      columns,
      nameOf: ({ name }) => `snapshots/${name}`,
      empty: 'no snapshots',
    });
    return undefined;
  },
});

export const snapshotShow = command({
  words: 'snapshot show',
  brief: 'Show a snapshot whole, secrets as references',
  arguments: [{ name: 'SNAPSHOT', brief: 'Name, id, or active' }],
  hasForms: true,
  async run(session, [name = '']) {
    const api = await session.api();
    const { id } = await findSnapshot(api, name);
    const full = await api.get<SnapshotSummary>(`/snapshots/${id}`);
    const form = session.form.is === 'table' || session.form.is === 'wide' ? ({ is: 'yaml' } as const) : session.form;
    await show(session.terminal, form, { items: [full], value: full, columns, nameOf: () => `snapshots/${full.name}` });
    return undefined;
  },
});

export const snapshotDelete = command({
  words: 'snapshot delete',
  brief: 'Delete snapshots',
  arguments: [{ name: 'SNAPSHOT', brief: 'Names or ids', many: true }],
  async run(session, names) {
    const api = await session.api();
    const found = [];
    for (const name of names) found.push(await findSnapshot(api, name));
    for (const { id, name } of found) {
      session.underWay = `snapshots/${name} may be deleted; those after it are not`;
      await api.ask('DELETE', `/snapshots/${id}`);
      session.terminal.note(`deleted   snapshots/${name}`);
    }
    return exitCodes.done;
  },
});
