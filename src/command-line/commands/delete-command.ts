// `delete`: resources, and with `--cascade` what refers to them.
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import { command } from '../command-declaration.ts';
import type { Api } from '../connection/api-client.ts';
import { findEntity } from '../entities.ts';
import { failed } from '../exit.ts';
import { countOf } from '../input/fault.ts';
import { kindOf } from '../kind-names.ts';
import { referrers } from './describe-command.ts';

interface Target {
  readonly kind: EditableKind;
  readonly id: string;
  readonly name: string;
  readonly etag?: string;
}

export const deleteCommand = command({
  words: 'delete',
  brief: 'Delete resources',
  text: 'One that others refer to is kept, unless `--cascade` deletes those, too, after a question. All of it is one batch.',
  arguments: [
    { name: 'KIND', brief: 'Kind of resource', choices: editableKinds },
    { name: 'NAME', brief: 'Names or ids', many: true },
  ],
  flags: { cascade: { kind: 'switch', brief: 'Delete what refers to them, too' } },
  examples: [{ line: 'sluice delete route old-cart', does: 'stages the deletion' }],
  async run(session, [word = '', ...names], { cascade }) {
    const kind = kindOf(word);
    if (names.length === 0) throw failed('delete needs a name');
    const api = await session.api();
    const targets: Target[] = [];
    for (const name of names) {
      const { entity, etag } = await findEntity(api, kind, name);
      targets.push({ kind, id: entity.id, name: entity.name, etag });
    }
    const all = await withReferrers(api, targets);
    const others = all.slice(targets.length);
    const lines = others.map((each) => `${each.kind}/${each.name} refers to it`);
    if (others.length > 0 && !cascade)
      throw failed('nothing was deleted: others refer to it, and --cascade deletes them, too', lines);
    for (const line of lines) session.terminal.hint(line);
    if (others.length > 0) await session.confirm(`Delete ${countOf(all.length, 'resource')}?`);
    session.underWay = 'the batch may have been taken; sluice get tells, and nothing is live by it';
    const operations = all.map(({ kind: of, id, etag }) => ({
      op: 'delete',
      kind: of,
      id,
      ...(etag !== undefined && { ifMatch: etag }),
    }));
    await api.ask('POST', '/batch', { json: { operations } });
    for (const { kind: of, name } of all) session.terminal.note(`deleted   ${of}/${name}`);
    return undefined;
  },
});

/** The targets, and all that refer to them or to one another, in turn. */
async function withReferrers(api: Api, targets: readonly Target[]): Promise<Target[]> {
  const found = [...targets];
  const known = new Set(targets.map(({ kind, id }) => `${kind} ${id}`));
  for (const { kind, id } of found)
    for (const each of await referrers(api, kind, id)) {
      const key = `${each.kind} ${each.id}`;
      if (known.has(key)) continue;
      known.add(key);
      found.push(each);
    }
  return found;
}
