// Configuration of a batch that builds on what is live (batch.md): the active snapshot with the batch's own entities in
// it. Edits of other writers that are not live stay staged and stay out of it; a batch that would overwrite one is refused.
import { type ConfigKind, configKinds, type EditableKind, nounOf, perKind } from '../model/kinds.ts';
import type { Overlay } from './overlay.ts';
import type { Decision } from './refusals.ts';
import { type Entity, isSame } from './stored-entity.ts';
import type { StateView, Stored, StoredSnapshot } from './view.ts';

/** Entity that a batch names or prunes. */
export interface Touched {
  readonly kind: EditableKind;
  readonly id: string;
  /** As it was staged before the batch; undefined: it was not there. */
  readonly before: Entity | undefined;
}

/** Content of a snapshot on top of what is live. */
export interface LiveContent {
  readonly entities: StoredSnapshot['entities'];
  /** Captured values that stay in force, by the whole text of their reference. */
  readonly values: Readonly<Record<string, string>>;
}

const nothing = perKind((): readonly Stored[] => []);

/** The active snapshot, or the empty configuration where nothing is active. */
export function liveContent(state: Pick<StateView, 'active' | 'snapshot'>): LiveContent {
  const snapshot = state.active && state.snapshot(state.active.snapshotId);
  return snapshot ?? { entities: nothing, values: {} };
}

/** Returns the content with the touched entities as they are now, or the refusal that names the edits in the way. */
export function* withTouched(
  state: Overlay,
  live: LiveContent,
  touched: readonly Touched[],
  owner: string | undefined,
): Generator<void, { readonly content: LiveContent } | { readonly refusal: Decision }> {
  const conflicts: string[] = [];
  const changes = perKind(() => new Map<string, Entity | undefined>());
  const newSecrets = new Set<string>();
  for (const each of touched) {
    const { kind, id, before } = each;
    const after = state.entity(kind, id);
    const isOwn = before !== undefined && owner !== undefined && before.writer === owner;
    if (!isOwn && !isAlike(before, after) && isUnfinished(each, live)) conflicts.push(entityText(kind, before, id));
    if (kind === 'secrets') newSecrets.add(secretText(id));
    else changes[kind].set(id, after);
    yield;
  }
  if (conflicts.length > 0) return { refusal: inTheWay(conflicts) };
  const lists: Partial<Record<ConfigKind, readonly Stored[]>> = {};
  for (const kind of configKinds) {
    const list = yield* merged(live.entities[kind], changes[kind]);
    const twice = yield* nameTwice(list, changes[kind]);
    if (twice !== undefined) return { refusal: renamed(kind, twice) };
    lists[kind] = list;
  }
  const values = Object.entries(live.values).filter(([text]) => !newSecrets.has(text));
  return { content: { entities: perKind((kind) => lists[kind] ?? []), values: Object.fromEntries(values) } };
}

/** Returns whether the staged entity differs from the live one: an edit of it was not activated. */
function isUnfinished({ kind, id, before }: Touched, { entities, values }: LiveContent): boolean {
  if (kind !== 'secrets') return !isAlike(before, findIn(entities[kind], id));
  const text = secretText(id);
  const value = Object.hasOwn(values, text) ? values[text] : undefined;
  return value !== before?.spec.value;
}

const isAlike = (one: Stored | undefined, other: Stored | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && isSame(one, other));

/** Finds an entity in a list that ascends by id. */
function findIn(list: readonly Stored[], id: string): Stored | undefined {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = list[middle];
    if (found !== undefined && found.id < id) low = middle + 1;
    else high = middle;
  }
  return list[low]?.id === id ? list[low] : undefined;
}

/** The list with the changes, ascending by id; the same list where there are none. */
function* merged(
  list: readonly Stored[],
  changes: ReadonlyMap<string, Entity | undefined>,
): Generator<void, readonly Stored[]> {
  if (changes.size === 0) return list;
  const added = [...changes.values()].filter((one) => one !== undefined).sort((a, b) => (a.id < b.id ? -1 : 1));
  const items: Stored[] = [];
  let next = 0;
  for (const item of list) {
    yield;
    for (let one = added[next]; one !== undefined && one.id < item.id; one = added[++next]) items.push(one);
    if (!changes.has(item.id)) items.push(item);
  }
  for (const one of added.slice(next)) items.push(one);
  return items;
}

/** Returns a name that two entities would have: a rename that is not live lets the batch use it, the live one has it still. */
function* nameTwice(
  list: readonly Stored[],
  changes: ReadonlyMap<string, Entity | undefined>,
): Generator<void, string | undefined> {
  if (changes.size === 0) return undefined;
  const names = new Set<string>();
  for (const { name } of list) {
    if (names.has(name)) return name;
    names.add(name);
    yield;
  }
  return undefined;
}

const secretText = (id: string): string => `{{secret:value:${id}}}`;

function entityText(kind: EditableKind, before: Entity | undefined, id: string): string {
  const name = before?.name ?? id;
  const of = before?.owner === undefined ? '' : ` of owner ${JSON.stringify(before.owner)}`;
  return `${nounOf(kind)} ${JSON.stringify(name)}${name === id ? '' : ` (${id})`}${of}`;
}

/** Conflicts that the text of a refusal names. */
const namedMax = 20;

function inTheWay(conflicts: readonly string[]): Decision {
  const more = conflicts.length - namedMax;
  const named = [...conflicts.slice(0, namedMax), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return {
    status: 409,
    error: `/snapshot/base: edits that are not live would be overwritten: ${named}; activate or discard them first`,
  };
}

const renamed = (kind: ConfigKind, name: string): Decision => ({
  status: 409,
  error: `/snapshot/base: a ${nounOf(kind)} named ${JSON.stringify(name)} is live, under another name in edits that are not`,
});
