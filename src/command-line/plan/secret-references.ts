// Staged resources that refer to a secret.
import { configKinds } from '../../model/kinds.ts';
import { findReferences } from '../../model/secret-reference.ts';
import type { Api } from '../connection/api-client.ts';
import { listEntities } from '../entities.ts';

/** Resolves with their names, as `listeners/public`. */
export async function referringToSecret(api: Api, id: string): Promise<string[]> {
  const reference = `{{secret:value:${id}}}`;
  const found: string[] = [];
  for (const kind of configKinds)
    for (const entity of await listEntities(api, kind))
      if (findReferences(entity).some(({ text }) => text === reference)) found.push(`${kind}/${entity.name}`);
  return found;
}
