// `get`: resources of a kind, as they are staged.
import { editableKinds } from '../../model/kinds.ts';
import { command } from '../command-declaration.ts';
import { findEntity, listEntities } from '../entities.ts';
import { kindOf } from '../kind-names.ts';
import { columnsOf } from '../output/entity-columns.ts';
import { show } from '../output/form.ts';

export const getCommand = command({
  words: 'get',
  brief: 'List resources, or show some of them',
  text: 'What is staged: edits that are not live yet are among it. A name may be an id.',
  arguments: [
    { name: 'KIND', brief: 'Kind of resource', choices: editableKinds },
    { name: 'NAME', brief: 'Names or ids', optional: true, many: true },
  ],
  flags: {
    owner: { kind: 'text', value: 'NAME', brief: 'Those of this owner' },
    label: { kind: 'texts', value: 'KEY=VALUE', brief: 'Those with this label' },
  },
  hasForms: true,
  examples: [
    { line: 'sluice get routes', does: 'lists all routes' },
    { line: 'sluice get routes shop -o yaml', does: 'shows one route whole' },
    { line: 'sluice get listeners -o cel=item.port', does: 'prints the port of each listener' },
  ],
  async run(session, [word = '', ...names], { owner, label }) {
    const kind = kindOf(word);
    const api = await session.api();
    const { terminal, form } = session;
    const columns = columnsOf(kind);
    const nameOf = ({ name }: { readonly name: string }) => `${kind}/${name}`;
    if (names.length === 0) {
      const query = { ...(owner !== undefined && { owner }), ...(label.length > 0 && { label }) };
      const items = await listEntities(api, kind, query);
      await show(terminal, form, { items, columns, nameOf, empty: `no ${kind}` });
      return undefined;
    }
    const items = [];
    for (const name of names) items.push((await findEntity(api, kind, name)).entity);
    const [only] = items;
    await show(terminal, form, { items, ...(names.length === 1 && { value: only }), columns, nameOf });
    return undefined;
  },
});
