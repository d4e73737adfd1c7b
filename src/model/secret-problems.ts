// Problems of a configuration for readers who may not see secrets: a message about a string that came from a secret may
// quote it, so only the pointer is shown.
import { configKinds } from './kinds.ts';
import { type Problem, pointerOf } from './problem.ts';
import { listOf, type ProxyConfig } from './proxy-config.ts';

/** @param secrets pointers of such strings, entities by id as in the problems; undefined: unknown. */
export function withoutSecrets(problems: readonly Problem[], secrets: readonly string[] | undefined): Problem[] {
  if (secrets === undefined || secrets.length === 0) return [...problems];
  return problems.map(({ pointer, message }) => ({
    pointer,
    message: secrets.some((secret) => areOne(secret, pointer)) ? 'cannot be used; it holds a secret' : message,
  }));
}

/** One is the other or lies in it. A whole entity is not the string that it holds somewhere. */
const areOne = (secret: string, pointer: string): boolean =>
  secret === pointer ||
  pointer.startsWith(`${secret}/`) ||
  (secret.startsWith(`${pointer}/`) && pointer.split('/').length > entitySegments);

/** Number of segments in a pointer to an entity; the part before the first slash is empty. */
const entitySegments = 3;

/** `/snapshot/listeners/0/tls/key` as `/listeners/<id>/tls/key`. */
export function secretsById({ secrets, snapshot }: Pick<ProxyConfig, 'secrets' | 'snapshot'>): string[] | undefined {
  return secrets?.flatMap((pointer) => {
    const [, kind = '', at = '', rest = ''] = /^\/snapshot\/([a-zA-Z]+)\/(\d+)(\/.*)$/.exec(pointer) ?? [];
    const list: unknown = Object.hasOwn(snapshot, kind) ? snapshot[kind as keyof typeof snapshot] : undefined;
    const entity: unknown = Array.isArray(list) ? list[Number(at)] : undefined;
    const id = typeof entity === 'object' && entity !== null && 'id' in entity ? entity.id : undefined;
    return typeof id === 'string' ? [pointerOf(kind, id) + rest] : [];
  });
}

/** The other way round, for a configuration from which entities may be missing. */
export function secretsByPlace(secrets: readonly string[], snapshot: ProxyConfig['snapshot']): string[] {
  const places = new Map(
    configKinds.flatMap((kind) =>
      listOf(snapshot, kind).map(({ id }, place) => [pointerOf(kind, id), pointerOf('snapshot', kind, place)] as const),
    ),
  );
  return secrets.flatMap((pointer) => {
    const [, entity = '', rest = ''] = /^(\/[^/]*\/[^/]*)(\/.*)$/.exec(pointer) ?? [];
    const place = places.get(entity);
    return place === undefined ? [] : [place + rest];
  });
}
