// The operations of a batch, one after the other, each on what the ones before it left (batch.md). Whether an entity is
// created or changed, and which one a name means, is decided here, where the order of all writes is known. Names have to
// be unique at the end of the batch and not before: two entities can exchange theirs.
import { isDeepStrictEqual } from 'node:util';
import { type EditableKind, nounOf } from '../model/kinds.ts';
import type { BatchOperation, Operations, Outcome, Spec } from './command.ts';
import { keptFields, withKept } from './kept-fields.ts';
import type { Overlay } from './overlay.ts';
import { type Decision, formerOwner, idTaken, missingOrChanged, nameTaken } from './refusals.ts';
import { Entity } from './stored-entity.ts';

/** Status 200 with the outcomes, or the refusal of the first operation that fails; what came before it stays done. */
export function* writeAll(state: Overlay, operations: Operations, index: number): Generator<void, Decision> {
  const batch = new Writer(state, index);
  const { outcomes } = batch;
  for (const operation of operations) {
    const refusal = operation === undefined ? malformed : batch.write(operation);
    if (refusal !== undefined) return { ...refusal, operation: outcomes.length };
    yield;
  }
  if (outcomes.length !== operations.count) return malformed;
  return (yield* batch.heldNames()) ?? { status: 200, outcomes };
}

const malformed: Decision = { status: 400, error: 'the command holds what is no operation' };

interface TakenName {
  readonly kind: EditableKind;
  readonly name: string;
  /** Id of the entity that had it. */
  readonly from: string;
  readonly operation: number;
}

class Writer {
  readonly outcomes: Outcome[] = [];
  readonly #state: Overlay;
  readonly #index: number;
  readonly #met = new Set<string>();
  /** Names taken from entities that no operation has written yet, by kind and name. */
  readonly #taken = new Map<string, TakenName>();

  constructor(state: Overlay, index: number) {
    this.#state = state;
    this.#index = index;
  }

  /** Why it is refused, or undefined once it is done. */
  write(operation: BatchOperation): Decision | undefined {
    const { op, kind, spec } = operation;
    const id = this.#idOf(operation);
    if (id === undefined) return this.#missing(operation);
    // The same name by two operations is the same entity too, for the first one left it behind under that name.
    if (this.#met.has(`${kind}/${id}`)) return twice(operation, id);
    this.#met.add(`${kind}/${id}`);
    if (op === 'delete') return this.#delete(operation, id);
    if (spec === undefined) return malformed;
    const exists = this.#state.find(kind, id) !== undefined;
    if (op === 'create' || (op === 'upsert' && !exists)) return this.#create(operation, id, spec);
    return this.#update(operation, id, spec);
  }

  /** Refuses the first operation that took a name which its former entity has kept. */
  *heldNames(): Generator<void, Decision | undefined> {
    for (const { kind, name, from, operation } of this.#taken.values()) {
      if (this.#state.entity(kind, from)?.name === name) return { ...nameTaken(kind, name), operation };
      yield;
    }
    return undefined;
  }

  /**
   * By name, the entity of that name; a new one gets the id that the operation brings. Where an operation before took the
   * name of an entity, that one is meant until it is written: the other one must not be written twice.
   */
  #idOf({ op, by, kind, id, name, spec }: BatchOperation): string | undefined {
    const wanted = name ?? spec?.name;
    if (op === 'create' || by !== 'name' || typeof wanted !== 'string') return id;
    const former = this.#taken.get(`${kind}/${wanted}`)?.from;
    if (former !== undefined && !this.#met.has(`${kind}/${former}`)) return former;
    return this.#state.idOf(kind, wanted) ?? id;
  }

  /** Why the entity cannot have the name. The holder gives it up as long as a later operation can still write it. */
  #takeName(kind: EditableKind, id: string, name: string): Decision | undefined {
    const from = this.#state.idOf(kind, name);
    if (from === undefined || from === id) return undefined;
    if (this.#met.has(`${kind}/${from}`)) return nameTaken(kind, name);
    this.#taken.set(`${kind}/${name}`, { kind, name, from, operation: this.outcomes.length });
    return undefined;
  }

  #create({ kind, ifMatch }: BatchOperation, id: string, fields: Spec): Decision | undefined {
    if (ifMatch !== undefined) return { status: 412, error: `${nounOf(kind)} "${id}" does not exist` };
    const taken = idTaken(this.#state, kind, id) ?? this.#takeName(kind, id, String(fields.name));
    if (taken !== undefined) return taken;
    this.#state.putEntity(kind, Entity.of(id, this.#index, { id, ...fields }));
    return this.#done(id, this.#index, 1);
  }

  #update({ op, kind, ifMatch }: BatchOperation, id: string, fields: Spec): Decision | undefined {
    const missing = missingOrChanged(this.#state, kind, id, ifMatch);
    if (missing !== undefined) return missing;
    const taken = this.#takeName(kind, id, String(fields.name));
    if (taken !== undefined) return taken;
    const before = this.#state.entity(kind, id);
    const sent = { id, ...fields };
    const spec = before === undefined ? sent : withKept(sent, keptFields(before, sent));
    const entity = Entity.of(id, this.#index, spec);
    if (op === 'upsert' && before !== undefined && isSame(before, entity)) return this.#done(id, before.revision, 0);
    this.#state.putEntity(kind, entity);
    return this.#done(id, this.#index, 1, formerOwner(before, fields.owner));
  }

  #delete({ kind, ifMatch, missingOk }: BatchOperation, id: string): Decision | undefined {
    if (missingOk && this.#state.find(kind, id) === undefined) return this.#done(id, 0, 0);
    const missing = missingOrChanged(this.#state, kind, id, ifMatch);
    if (missing !== undefined) return missing;
    const before = this.#state.entity(kind, id);
    this.#state.deleteEntity(kind, id, this.#index);
    return this.#done(id, 0, 1, formerOwner(before, undefined));
  }

  #done(
    id: string,
    revision: number,
    changed: 0 | 1,
    { formerOwner: owner }: { formerOwner?: string } = {},
  ): undefined {
    this.outcomes.push(owner === undefined ? [id, revision, changed] : [id, revision, changed, owner]);
  }

  /** Nothing has that name, and the operation creates nothing. */
  #missing({ kind, name, spec, missingOk }: BatchOperation): Decision | undefined {
    if (missingOk) return this.#done('', 0, 0);
    return { status: 404, error: `${nounOf(kind)} named ${JSON.stringify(name ?? spec?.name)} not found` };
  }
}

const twice = ({ kind }: BatchOperation, id: string): Decision => ({
  status: 400,
  error: `${nounOf(kind)} "${id}" is written by an earlier operation of this batch already`,
});

/** Fields stand in the order of the schema, so texts are alike but for the order of keys that a caller chose. */
const isSame = (a: Entity, b: Entity): boolean =>
  a.json === b.json || (a.json.length === b.json.length && isDeepStrictEqual(a.spec, b.spec));
