// Snapshots as JSON text, for the API, the stream and the debug page. Put together from the texts that are kept, so that
// ten thousand routes cost a join; only entities with references are written anew. The same bytes on every node.
import { type ConfigKind, isWritten, writtenKinds } from '../model/kinds.ts';
import { holdsSecret } from '../model/secret-reference.ts';
import type { Stored, StoredSnapshot } from '../state/view.ts';
import { resolvedSpec } from './build.ts';
import type { Captured } from './staged.ts';

/** `resolved`: with values; `references`: as written; `masked`: every string that holds a reference is `***`. */
export type Form = 'resolved' | 'references' | 'masked';

/** `{"id":…,"name":…,"createdAt":…,"snapshot":{…}}`, text by text; `more` are members that follow. */
export function* snapshotTexts(snapshot: StoredSnapshot, form: Form, more = ''): Generator<string> {
  const { id, name, owner, labels, createdAt } = snapshot;
  yield `${JSON.stringify({ id, name, owner, labels, createdAt }).slice(0, -1)},"snapshot":`;
  yield* configurationTexts(snapshot, form, writtenKinds);
  yield `${more}}`;
}

/** `{"listeners":[…],"routes":[…],"groups":[…],"destinations":[…],"middlewares":[…]`, in the order of `kinds`, and `end`; an optional kind without entities is left out. */
export function* configurationTexts(
  captured: Captured,
  form: Form,
  kinds: readonly ConfigKind[],
  end = '}',
): Generator<string> {
  const written = kinds.filter((kind) => isWritten(kind, captured.entities[kind]));
  for (const [place, kind] of written.entries()) {
    yield `${place === 0 ? '{' : ','}"${kind}":[`;
    for (const [at, entity] of captured.entities[kind].entries()) {
      if (at > 0) yield ',';
      yield textOf(entity, captured, form);
    }
    yield ']';
  }
  yield end;
}

function textOf(entity: Stored, { values }: Captured, form: Form): string {
  if (form === 'references' || !entity.holdsReferences) return entity.json;
  return JSON.stringify(form === 'masked' ? masked(entity.spec) : resolvedSpec(entity, values));
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return holdsSecret(value) ? '***' : value;
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, masked(part)]));
}
