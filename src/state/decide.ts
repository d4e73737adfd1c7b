// Decisions: what each of the commands does to the state that it meets, or why it is refused. The order of the checks
// is architecture.md §8's: exists (404) → If-Match (412) → id or name taken (409).
import type { Kind } from '../model/kinds.ts';
import { capturedReferences } from './captured-references.ts';
import type { Batch, BatchSnapshot, Capture, Command, Delete, Put } from './command.ts';
import { activate, confirm, makeLive, neededFor, revert, rollBack } from './decide-activation.ts';
import { writeAll } from './decide-batch.ts';
import { decideRollout } from './decide-rollout.ts';
import { keptFields, withKept } from './kept-fields.ts';
import type { Overlay } from './overlay.ts';
import { type Decision, formerOwner, missingOrChanged, nameTaken, snapshotRefused, takenBy } from './refusals.ts';
import { Entity } from './stored-entity.ts';
import type { StoredSnapshot } from './view.ts';

/** Yields wherever others may have their turn. */
export function* decide(state: Overlay, command: Command, index: number): Generator<void, Decision> {
  switch (command.op) {
    case 'put':
      return command.mode === 'create' ? create(state, command, index) : update(state, command, index);
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
    case 'batch':
      return yield* batch(state, command, index);
  }
}

export const kindOf = (command: Command): Kind =>
  command.op === 'put' || command.op === 'delete' ? command.kind : 'snapshots';

function create(state: Overlay, command: Put, index: number): Decision {
  const taken = takenBy(state, command.kind, command.id, nameOf(command));
  if (taken !== undefined) return taken;
  state.putEntity(command.kind, Entity.of(command.id, index, command.spec));
  return { status: 201 };
}

function update(state: Overlay, command: Put, index: number): Decision {
  const missing = missingOrChanged(state, command.kind, command.id, command.ifMatch);
  if (missing !== undefined) return missing;
  const holder = state.idOf(command.kind, nameOf(command));
  if (holder !== undefined && holder !== command.id) return nameTaken(command.kind, nameOf(command));
  const before = state.entity(command.kind, command.id);
  if (before === undefined) return { status: 404 };
  const kept = keptFields(before, command.spec);
  state.putEntity(command.kind, Entity.of(command.id, index, withKept(command.spec, kept)));
  const hasKept = kept.owner !== undefined || kept.labels !== undefined;
  return { status: 200, ...(hasKept && { kept }), ...formerOwner(before, command.spec.owner) };
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
  const { operations, snapshot } = command;
  const { changedAt } = state.position;
  const undo = state.savepoint();
  const verdict = yield* writeAll(state, operations, index);
  if (verdict.status === 200 && snapshot !== undefined) {
    const taken = yield* captureAfter(state, snapshot, changedAt, index);
    if (taken.status !== 201) {
      undo();
      return taken;
    }
  }
  if (verdict.status !== 200) undo();
  return verdict;
}

function* captureAfter(
  state: Overlay,
  snapshot: BatchSnapshot,
  changedAt: number,
  index: number,
): Generator<void, Decision> {
  const refused = snapshotRefused(state, snapshot);
  if (refused !== undefined) return refused;
  if (snapshot.checkedAt !== changedAt) return { status: 'moved' };
  const verdict = yield* take(state, snapshot, index);
  if (verdict.status === 201 && snapshot.activate)
    makeLive(state, snapshot, { ...snapshot, reason: 'activated', index });
  return verdict;
}

function* capture(state: Overlay, command: Capture, index: number): Generator<void, Decision> {
  const taken = takenBy(state, 'snapshots', command.id, command.name);
  if (taken !== undefined) return taken;
  return command.checkedAt === state.position.changedAt ? yield* take(state, command, index) : { status: 'moved' };
}

function* take(state: Overlay, command: Omit<BatchSnapshot, 'activate'>, index: number): Generator<void, Decision> {
  const { id, name, owner, labels, createdAt } = command;
  const marks = { ...(owner !== undefined && { owner }), ...(labels !== undefined && { labels }) };
  yield* state.sort();
  const entities = state.configuration();
  const values = valuesFor(state, command, entities);
  if (values === undefined) return { status: 'moved' };
  state.putSnapshot({ id, name, ...marks, revision: index, createdAt, entities, values });
  return { status: 201 };
}

/**
 * A value for every reference in the captured entities, and none beside them. Undefined when one cannot be found: the
 * proposer collected from another state and has to collect again.
 */
function valuesFor(
  state: Overlay,
  command: Pick<Capture, 'values'>,
  entities: StoredSnapshot['entities'],
): Record<string, string> | undefined {
  const values: [string, string][] = [];
  for (const { text, source, argument } of capturedReferences(entities)) {
    const secret = source === 'value' ? state.secret(argument)?.spec.value : undefined;
    const value = source === 'value' ? secret : Object.hasOwn(command.values, text) ? command.values[text] : undefined;
    if (typeof value !== 'string') return undefined;
    values.push([text, value]);
  }
  return Object.fromEntries(values);
}

const nameOf = ({ spec }: Put): string => (typeof spec.name === 'string' ? spec.name : '');
