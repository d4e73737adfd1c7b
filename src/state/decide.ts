// What each of the four commands does to the state that it meets, or why it is refused. The order of the checks is
// architecture.md §8's: exists (404) → If-Match (412) → id or name taken (409).
import { type Kind, nounOf } from '../model/kinds.ts';
import { capturedReferences } from './captured-references.ts';
import type { Activate, Capture, Command, Delete, IfMatch, Put, Result } from './command.ts';
import { Entity } from './entity.ts';
import type { Overlay } from './overlay.ts';
import type { StoredSnapshot } from './view.ts';

/** A result without what every result of this command shares: index, kind and id. */
export type Verdict = Pick<Result, 'status' | 'error'>;

export function decide(state: Overlay, command: Command, index: number): Verdict {
  switch (command.op) {
    case 'put':
      return command.mode === 'create' ? create(state, command, index) : update(state, command, index);
    case 'delete':
      return remove(state, command, index);
    case 'capture':
      return capture(state, command, index);
    case 'activate':
      return activate(state, command, index);
  }
}

export const kindOf = (command: Command): Kind =>
  command.op === 'put' || command.op === 'delete' ? command.kind : 'snapshots';

function create(state: Overlay, command: Put, index: number): Verdict {
  const taken = takenBy(state, command.kind, command.id, nameOf(command));
  if (taken !== undefined) return taken;
  state.putEntity(command.kind, Entity.of(command.id, index, command.spec));
  return { status: 201 };
}

function update(state: Overlay, command: Put, index: number): Verdict {
  const missing = missingOrChanged(state, command.kind, command.id, command.ifMatch);
  if (missing !== undefined) return missing;
  const holder = state.idOf(command.kind, nameOf(command));
  if (holder !== undefined && holder !== command.id) return nameTaken(command.kind, nameOf(command));
  state.putEntity(command.kind, Entity.of(command.id, index, command.spec));
  return { status: 200 };
}

function remove(state: Overlay, { kind, id, ifMatch }: Delete, index: number): Verdict {
  const missing = missingOrChanged(state, kind, id, ifMatch);
  if (missing !== undefined) return missing;
  if (kind !== 'snapshots') state.deleteEntity(kind, id, index);
  else if (state.active?.snapshotId === id) return { status: 409, error: `snapshot "${id}" is active` };
  else state.deleteSnapshot(id, index);
  return { status: 204 };
}

function capture(state: Overlay, command: Capture, index: number): Verdict {
  const { id, name, createdAt } = command;
  const taken = takenBy(state, 'snapshots', id, name);
  if (taken !== undefined) return taken;
  if (command.checkedAt !== state.position.changedAt) return { status: 'moved' };
  const entities = state.configuration();
  const values = valuesFor(state, command, entities);
  if (values === undefined) return { status: 'moved' };
  state.putSnapshot({ id, name, revision: index, createdAt, entities, values });
  return { status: 201 };
}

function activate(state: Overlay, { id, ifMatch }: Activate, index: number): Verdict {
  const missing = missingOrChanged(state, 'snapshots', id, ifMatch);
  if (missing !== undefined) return missing;
  state.activate({ snapshotId: id, index });
  return { status: 200 };
}

/**
 * A value for every reference in the captured entities, and none beside them. Undefined when one cannot be found: the
 * proposer collected from another state and has to collect again.
 */
function valuesFor(
  state: Overlay,
  command: Capture,
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

function missingOrChanged(state: Overlay, kind: Kind, id: string, ifMatch: IfMatch | undefined): Verdict | undefined {
  const found = state.find(kind, id);
  if (found === undefined) return { status: 404, error: `${nounOf(kind)} "${id}" not found` };
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.includes(found.revision)) return undefined;
  return { status: 412, error: `${nounOf(kind)} "${id}" was changed: it is at revision ${found.revision}` };
}

function takenBy(state: Overlay, kind: Kind, id: string, name: string): Verdict | undefined {
  if (state.find(kind, id) !== undefined) return { status: 409, error: `${nounOf(kind)} "${id}" exists already` };
  return state.idOf(kind, name) === undefined ? undefined : nameTaken(kind, name);
}

const nameTaken = (kind: Kind, name: string): Verdict => ({
  status: 409,
  error: `a ${nounOf(kind)} named "${name}" exists already`,
});

const nameOf = ({ spec }: Put): string => (typeof spec.name === 'string' ? spec.name : '');
