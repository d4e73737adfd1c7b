// References of input resources: names become ids, in every field that holds the id of another resource.
import { type EditableKind, nounOf } from '../../model/kinds.ts';
import { holdsSecret } from '../../model/secret-reference.ts';
import { places, type ReferenceField } from '../../snapshot/dangling.ts';
import { meant } from '../kind-names.ts';

type Fields = Readonly<Record<string, unknown>>;
type OnUnknown = (segments: readonly (string | number)[], message: string, text: string) => void;

/** Ids and names of one kind: what is in the input before what is in the cluster. */
export class NameTable {
  readonly #ids = new Set<string>();
  readonly #byName = new Map<string, string>();

  add(id: string, name: string): void {
    this.#ids.add(id);
    if (!this.#byName.has(name)) this.#byName.set(name, id);
  }

  /** Id that a text means: an id before a name. */
  idOf(text: string): string | undefined {
    return this.#ids.has(text) ? text : this.#byName.get(text);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  get words(): Iterable<string> {
    return this.#byName.keys();
  }
}

export type NameTables = Readonly<Record<EditableKind, NameTable>>;

/** Kinds that resources of `kind` may refer to. */
export const kindsReferredTo = (kind: EditableKind): EditableKind[] =>
  places.filter((place) => place.in === kind).map(({ to }) => to);

const secretReference = /\{\{secret:value:([^}]+)\}\}/g;

/** Returns the resource with ids in the place of names. Tells each reference that leads nowhere. */
export function resolved(kind: EditableKind, fields: Fields, tables: NameTables, onUnknown: OnUnknown): Fields {
  let result: unknown = fields;
  for (const place of places)
    if (place.in === kind)
      result = mapped(result, place.path, [], (text, segments) => target(text, segments, place, tables, onUnknown));
  result = withOverrides(result as Fields, tables);
  return (mayNameSecrets(JSON.stringify(result)) ? withSecrets(result, [], tables, onUnknown) : result) as Fields;
}

const mayNameSecrets = (json: string): boolean => json.includes('{{secret:value:') || json.includes('"bodyFrom":{');

function target(
  text: string,
  segments: readonly (string | number)[],
  { to }: ReferenceField,
  tables: NameTables,
  onUnknown: OnUnknown,
): string {
  const table = tables[to];
  const id = table.idOf(text) ?? sectionOf(text, table);
  if (id !== undefined || holdsSecret(text)) return id ?? text;
  onUnknown(segments, `${JSON.stringify(text)} is not a ${nounOf(to)}${meant(text, table.words)}`, text);
  return text;
}

/** `<listener>/<section>` refers to a part of the resource. */
function sectionOf(text: string, table: NameTable): string | undefined {
  const slash = text.lastIndexOf('/');
  const id = slash < 0 ? undefined : table.idOf(text.slice(0, slash));
  return id === undefined ? undefined : id + text.slice(slash);
}

/** Keys of overrides are ids of middlewares; one that is none has no effect and stays. */
function withOverrides(fields: Fields, { middlewares }: NameTables): Fields {
  const { middlewareOverrides } = fields;
  if (typeof middlewareOverrides !== 'object' || middlewareOverrides === null) return fields;
  const entries = Object.entries(middlewareOverrides).map(([key, value]) => [middlewares.idOf(key) ?? key, value]);
  return { ...fields, middlewareOverrides: Object.fromEntries(entries) };
}

function withSecrets(
  value: unknown,
  segments: readonly (string | number)[],
  tables: NameTables,
  onUnknown: OnUnknown,
): unknown {
  if (typeof value === 'string')
    return value.replace(secretReference, (whole, name: string) => {
      const id = tables.secrets.idOf(name);
      if (id !== undefined) return `{{secret:value:${id}}}`;
      onUnknown(segments, `${JSON.stringify(name)} is not a secret${meant(name, tables.secrets.words)}`, whole);
      return whole;
    });
  if (Array.isArray(value)) return value.map((each, at) => withSecrets(each, [...segments, at], tables, onUnknown));
  if (typeof value !== 'object' || value === null) return value;
  const isStoredBody = segments.at(-1) === 'bodyFrom';
  const entries = Object.entries(value).map(([key, each]) => {
    const at = [...segments, key];
    const isName = isStoredBody && key === 'secret' && typeof each === 'string' && !holdsSecret(each);
    return [key, isName ? secretOf(each, at, tables, onUnknown) : withSecrets(each, at, tables, onUnknown)];
  });
  return Object.fromEntries(entries);
}

function secretOf(
  name: string,
  segments: readonly (string | number)[],
  { secrets }: NameTables,
  onUnknown: OnUnknown,
): string {
  const id = secrets.idOf(name);
  if (id === undefined)
    onUnknown(segments, `${JSON.stringify(name)} is not a secret${meant(name, secrets.words)}`, name);
  return id ?? name;
}

/** Copies what lies on the path, and replaces the texts at its end. */
export function mapped(
  value: unknown,
  path: readonly string[],
  segments: readonly (string | number)[],
  replace: (text: string, segments: readonly (string | number)[]) => string,
): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return typeof value === 'string' && value !== '' ? replace(value, segments) : value;
  if (step === '*')
    return Array.isArray(value) ? value.map((each, at) => mapped(each, rest, [...segments, at], replace)) : value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return value;
  const fields = value as Fields;
  return { ...fields, [step]: mapped(fields[step], rest, [...segments, step], replace) };
}
