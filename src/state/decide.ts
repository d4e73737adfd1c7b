// Decisions: what each of the commands does to the state that it meets, or why it is refused. The order of the checks
// is architecture.md §8's: exists (404) → If-Match (412) → id or name taken (409).
import type { Kind } from '../model/kinds.ts';
import { capturedReferences } from './captured-references.ts';
import type { Batch, BatchSnapshot, Capture, Command, Delete, Put } from './command.ts';
import { activate, confirm, makeLive, neededFor, revert, rollBack } from './decide-activation.ts';
import { addApiKey, revokeApiKey } from './decide-api-key.ts';
import { writeAll } from './decide-batch.ts';
import { addCookieKey } from './decide-cookie-key.ts';
import { discard } from './decide-discard.ts';
import { drain } from './decide-drain.ts';
import { decideRollout } from './decide-rollout.ts';
import { keptFields, withKept } from './kept-fields.ts';
import { type LiveContent, liveContent, type Touched, withTouched } from './live-base.ts';
import { summed } from './outcome-sum.ts';
import type { Overlay } from './overlay.ts';
import { PackedOperations } from './packed-operations.ts';
import { type Decision, formerOwner, missingOrChanged, nameTaken, snapshotRefused, takenBy } from './refusals.ts';
import { sharedCredentialOf } from './shared-credentials.ts';
import { SpecText } from './spec-text.ts';
import { Entity } from './stored-entity.ts';
import type { StoredSnapshot } from './view.ts';

/** Yields wherever others may have their turn. */
export function* decide(state: Overlay, command: Command, index: number): Generator<void, Decision> {
  switch (command.op) {
    case 'put':
      return yield* command.mode === 'create' ? create(state, command, index) : update(state, command, index);
    case 'delete':
      return remove(state, command, index);
    case 'capture':
      return yield* capture(state, command, index);
    case 'activate':
      return activate(state, command, index);
    case 'rollback':
      return rollBack(state, command, index);
    case 'confirm':
      return confirm(state, command, index);
    case 'revert':
      return revert(state, command, index);
    case 'rollout':
      return decideRollout(state, command, index);
    case 'drain':
      return drain(state, command, index);
    case 'cookieKey':
      return addCookieKey(state, command, index);
    case 'apiKey':
      return addApiKey(state, command, index);
    case 'revokeApiKey':
      return revokeApiKey(state, command, index);
    case 'batch':
      return yield* batch(state, command, index);
    case 'discard':
      return yield* discard(state, command, index);
  }
}

export const kindOf = (command: Command): Kind =>
  command.op === 'put' || command.op === 'delete' ? command.kind : 'snapshots';

function* create(state: Overlay, command: Put, index: number): Generator<void, Decision> {
  const taken = takenBy(state, command.kind, command.id, nameOf(command));
  if (taken !== undefined) return taken;
  const entity = entityOf(state, command, index, command.spec);
  const shared = yield* sharedCredentialOf(state, command.kind, entity);
  if (shared !== undefined) return shared;
  state.putEntity(command.kind, entity);
  return { status: 201 };
}

function* update(state: Overlay, command: Put, index: number): Generator<void, Decision> {
  const missing = missingOrChanged(state, command.kind, command.id, command.ifMatch);
  if (missing !== undefined) return missing;
  const holder = state.idOf(command.kind, nameOf(command));
  if (holder !== undefined && holder !== command.id) return nameTaken(command.kind, nameOf(command));
  const before = state.entity(command.kind, command.id);
  if (before === undefined) return { status: 404 };
  const { fields } = command.spec;
  const kept = keptFields(before, fields);
  const whole = withKept(fields, kept);
  const entity = entityOf(state, command, index, whole === fields ? command.spec : new SpecText(whole));
  const shared = yield* sharedCredentialOf(state, command.kind, entity);
  if (shared !== undefined) return shared;
  state.putEntity(command.kind, entity);
  const hasKept = kept.owner !== undefined || kept.labels !== undefined;
  return { status: 200, ...(hasKept && { kept }), ...formerOwner(before, fields.owner) };
}

function remove(state: Overlay, { kind, id, ifMatch }: Delete, index: number): Decision {
  const missing = missingOrChanged(state, kind, id, ifMatch);
  if (missing !== undefined) return missing;
  const before = state.find(kind, id);
  if (kind !== 'snapshots') state.deleteEntity(kind, id, index);
  else {
    const needed = neededFor(state, id);
    if (needed !== undefined) return { status: 409, error: needed };
    state.deleteSnapshot(id, index);
  }
  return { status: 204, ...formerOwner(before, undefined) };
}

/** Applies all or nothing: changes made before a refusal are undone. */
function* batch(state: Overlay, command: Batch, index: number): Generator<void, Decision> {
  const { snapshot, owner } = command;
  const { changedAt } = state.position;
  const undo = state.savepoint();
  const live = snapshot?.base === undefined ? undefined : liveContent(state);
  const { verdict, touched } = yield* writeAll(state, command, index, live);
  if (verdict.status === 200 && snapshot !== undefined) {
    const taken = yield* captureAfter(state, snapshot, { changedAt, live, touched, owner }, index);
    if (taken.status !== 201) {
      undo();
      return taken;
    }
  }
  if (verdict.status !== 200) undo();
  return command.operations instanceof PackedOperations ? yield* summed(verdict, touched) : verdict;
}

/** State that a batch met, and what it changed of it. */
interface Met {
  readonly changedAt: number;
  readonly live: LiveContent | undefined;
  readonly touched: readonly Touched[];
  readonly owner: string | undefined;
}

function* captureAfter(state: Overlay, snapshot: BatchSnapshot, met: Met, index: number): Generator<void, Decision> {
  const refused = snapshotRefused(state, snapshot);
  if (refused !== undefined) return refused;
  const { live, touched, owner } = met;
  const found = live && (yield* withTouched(state, live, touched, owner));
  if (found !== undefined && 'refusal' in found) return found.refusal;
  if (snapshot.checkedAt !== met.changedAt) return { status: 'moved' };
  if (snapshot.base !== undefined && snapshot.base !== (state.active?.index ?? 0)) return { status: 'moved' };
  const verdict = yield* take(state, snapshot, index, found?.content);
  if (verdict.status !== 201) return verdict;
  if (snapshot.activate) makeLive(state, snapshot, { ...snapshot, reason: 'activated', index });
  if (snapshot.keep !== undefined) dropOldest(state, snapshot, snapshot.keep, index);
  return verdict;
}

/** Deletes the oldest snapshots of the same owner, but for those that are needed. */
function dropOldest(state: Overlay, { id, owner }: BatchSnapshot, keep: number, index: number): void {
  const others = state.snapshots().filter((each) => each.owner === owner && each.id !== id);
  for (const each of others.slice(0, Math.max(0, others.length - keep + 1))) {
    if (neededFor(state, each.id) === undefined) state.deleteSnapshot(each.id, index);
  }
}

function* capture(state: Overlay, command: Capture, index: number): Generator<void, Decision> {
  const taken = takenBy(state, 'snapshots', command.id, command.name);
  if (taken !== undefined) return taken;
  return command.checkedAt === state.position.changedAt ? yield* take(state, command, index) : { status: 'moved' };
}

/** `content`: what is captured; absent: all that is staged. */
function* take(
  state: Overlay,
  command: Omit<BatchSnapshot, 'activate'>,
  index: number,
  content?: LiveContent,
): Generator<void, Decision> {
  const { id, name, owner, labels, createdAt } = command;
  const marks = { ...(owner !== undefined && { owner }), ...(labels !== undefined && { labels }) };
  yield* state.sort();
  const entities = content?.entities ?? state.configuration();
  const values = valuesFor(state, command, entities, content?.values ?? {});
  if (values === undefined) return { status: 'moved' };
  state.putSnapshot({ id, name, ...marks, revision: index, createdAt, entities, values });
  return { status: 201 };
}

/**
 * A value for every reference in the captured entities, and none beside them; those in force stay. Undefined when one cannot be found: the
 * proposer collected from another state and has to collect again.
 */
function valuesFor(
  state: Overlay,
  command: Pick<Capture, 'values'>,
  entities: StoredSnapshot['entities'],
  inForce: LiveContent['values'],
): Record<string, string> | undefined {
  const values: [string, string][] = [];
  for (const { text, source, argument } of capturedReferences(entities)) {
    if (Object.hasOwn(inForce, text)) {
      values.push([text, inForce[text] ?? '']);
      continue;
    }
    const secret = source === 'value' ? state.secret(argument)?.spec.value : undefined;
    const value = source === 'value' ? secret : Object.hasOwn(command.values, text) ? command.values[text] : undefined;
    if (typeof value !== 'string') return undefined;
    values.push([text, value]);
  }
  return Object.fromEntries(values);
}

const entityOf = (state: Overlay, { kind, id }: Put, index: number, { json, fields }: SpecText): Entity =>
  new Entity(id, index, json, fields, { changedAt: state.changeTime(kind, id, fields) });

const nameOf = ({ spec: { fields } }: Put): string => (typeof fields.name === 'string' ? fields.name : '');
