// Resources as the API lists them, found by id or by name.
import { type EditableKind, optionalKinds } from '../model/kinds.ts';
import type { Api, Asked } from './connection/api-client.ts';
import { failed } from './exit.ts';
import { unknownName } from './kind-names.ts';

export interface Entity {
  readonly id: string;
  readonly name: string;
  readonly owner?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface FoundEntity {
  readonly entity: Entity;
  /** Quoted revision, for `If-Match`. */
  readonly etag: string;
}

/** Lists the resources of a kind; none of a kind that an older server does not have. */
export async function listEntities(api: Api, kind: EditableKind, query: Asked['query'] = {}): Promise<Entity[]> {
  const isOptional = optionalKinds.some((each) => each === kind);
  const { status, body } = await api.ask<Entity[]>('GET', `/${kind}`, { query, ...(isOptional && { allows: [404] }) });
  return status === 404 ? [] : body;
}

const idGrammar = /^[A-Za-z0-9._~:-]{1,512}$/;

/** Finds a resource by its id, else by its name. Rejects with a failure that has the nearest name. */
export async function findEntity(api: Api, kind: EditableKind, nameOrId: string): Promise<FoundEntity> {
  if (idGrammar.test(nameOrId)) {
    const found = await read(api, kind, nameOrId);
    if (found !== undefined) return found;
  }
  const all = await listEntities(api, kind);
  const named = all.find(({ name }) => name === nameOrId);
  if (named === undefined)
    throw unknownName(
      kind,
      nameOrId,
      all.map(({ name }) => name),
    );
  const found = await read(api, kind, named.id);
  if (found === undefined) throw failed(`${kind}/${nameOrId} was deleted meanwhile`);
  return found;
}

async function read(api: Api, kind: EditableKind, id: string): Promise<FoundEntity | undefined> {
  const { status, body, headers } = await api.ask<Entity>('GET', `/${kind}/${encodeURIComponent(id)}`, {
    allows: [404],
  });
  return status === 404 ? undefined : { entity: body, etag: headers.etag ?? '' };
}
