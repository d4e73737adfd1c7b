// `describe`: one resource whole, with its revision, its owner and what refers to it.
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import { places } from '../../snapshot/dangling.ts';
import { command } from '../command-declaration.ts';
import type { Api } from '../connection/api-client.ts';
import { findEntity, listEntities } from '../entities.ts';
import { kindOf } from '../kind-names.ts';
import { showValue, yamlOf } from '../output/form.ts';
import { mapped } from '../plan/references.ts';

export const describeCommand = command({
  words: 'describe',
  brief: 'Show one resource whole, and what refers to it',
  arguments: [
    { name: 'KIND', brief: 'Kind of resource', choices: editableKinds },
    { name: 'NAME', brief: 'Name or id' },
  ],
  hasForms: true,
  examples: [
    { line: 'sluice describe destination cart', does: 'shows the destination and the routes that forward to it' },
  ],
  async run(session, [word = '', name = '']) {
    const kind = kindOf(word);
    const api = await session.api();
    const { entity, etag } = await findEntity(api, kind, name);
    const referring = await referringTo(api, kind, entity.id);
    const fields = await yamlOf(entity);
    await showValue(session.terminal, session.form, { ...entity, referredToBy: referring }, () =>
      [
        `${kind}/${entity.name}`,
        `revision       ${etag.replaceAll('"', '')}`,
        `owner          ${entity.owner ?? '(none)'}`,
        `referred to by ${referring.length === 0 ? '(nothing)' : referring.join(', ')}`,
        '',
        fields,
      ].join('\n'),
    );
    return undefined;
  },
});

/** Resources whose references lead to this one, as `routes/shop`. */
async function referringTo(api: Api, kind: EditableKind, id: string): Promise<string[]> {
  return (await referrers(api, kind, id)).map((each) => `${each.kind}/${each.name}`);
}

export async function referrers(
  api: Api,
  kind: EditableKind,
  id: string,
): Promise<{ readonly kind: EditableKind; readonly id: string; readonly name: string }[]> {
  const from = [...new Set(places.filter(({ to }) => to === kind).map((place) => place.in))];
  const found = [];
  for (const each of from) {
    for (const entity of await listEntities(api, each)) {
      let refers = false;
      for (const place of places)
        if (place.in === each && place.to === kind)
          mapped(entity, place.path, [], (text) => {
            refers ||= text === id || text.startsWith(`${id}/`);
            return text;
          });
      if (refers) found.push({ kind: each, id: entity.id, name: entity.name });
    }
  }
  return found;
}
