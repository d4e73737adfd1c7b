// The operations of a batch, one after the other, each on what the ones before it left (batch.md). Whether an entity is
// created or changed, and which one a name means, is decided here, where the order of all writes is known. Names have to
// be unique at the end of the batch and not before: two entities can exchange theirs.
import { type EditableKind, nounOf } from '../model/kinds.ts';
import type { BatchOperation, BatchOutcome, BatchWrites, EntityName, KeptFields, Spec } from './command.ts';
import { keptFields, withKept } from './kept-fields.ts';
import type { LiveContent, Touched } from './live-base.ts';
import type { Overlay } from './overlay.ts';
import { type Decision, formerOwner, idTaken, missingOrChanged, nameTaken, stagedMoved } from './refusals.ts';
import { consumersAmong, sharedCredential } from './shared-credentials.ts';
import { SpecText } from './spec-text.ts';
import { Entity, isSame } from './stored-entity.ts';
import type { Stored } from './view.ts';

export interface Written {
  /** Status 200 with the outcomes, or the refusal of the first operation that fails; what came before it stays done. */
  readonly verdict: Decision;
  readonly touched: readonly Touched[];
}

/** `live`: content that the batch's snapshot builds on; what the owner has there alone is pruned too. */
export function* writeAll(
  state: Overlay,
  { operations, owner, prune, ifMatch }: BatchWrites,
  index: number,
  live?: LiveContent,
): Generator<void, Written> {
  const batch = new Writer(state, index, owner);
  const { outcomes, touched } = batch;
  const refused = (verdict: Decision): Written => ({ verdict, touched });
  const moved = stagedMoved(state, ifMatch);
  if (moved !== undefined) return refused(moved);
  for (const operation of operations) {
    const refusal = operation === undefined ? malformed : batch.write(operation);
    if (refusal !== undefined) return refused({ ...refusal, operation: outcomes.length });
    yield;
  }
  if (outcomes.length !== operations.count) return refused(malformed);
  const pruned = prune && (yield* batch.prune(prune, live));
  const held = (yield* batch.heldNames()) ?? (yield* batch.sharedCredential());
  const staged = state.position.changedAt;
  return refused(held ?? { status: 200, outcomes, staged, ...(pruned && { pruned }) });
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
  readonly outcomes: BatchOutcome[] = [];
  readonly touched: Touched[] = [];
  readonly #state: Overlay;
  readonly #index: number;
  readonly #owner: string | undefined;
  readonly #met = new Set<string>();
  /** Names taken from entities that no operation has written yet, by kind and name. */
  readonly #taken = new Map<string, TakenName>();

  constructor(state: Overlay, index: number, owner: string | undefined) {
    this.#state = state;
    this.#index = index;
    this.#owner = owner;
  }

  /** Why it is refused, or undefined once it is done. */
  write(operation: BatchOperation): Decision | undefined {
    const { op, kind, spec } = operation;
    const id = this.#idOf(operation);
    if (id === undefined) return this.#missing(operation);
    // The same name by two operations is the same entity too, for the first one left it behind under that name.
    if (this.#met.has(`${kind}/${id}`)) return twice(operation, id);
    this.#touch(kind, id);
    if (op === 'delete') return this.#delete(operation, id);
    if (spec === undefined) return malformed;
    const exists = this.#state.find(kind, id) !== undefined;
    if (op === 'create' || (op === 'upsert' && !exists)) return this.#create(operation, id, spec);
    return this.#update(operation, id, spec);
  }

  /** Deletes what the owner has of these kinds and no operation has named. */
  *prune(kinds: readonly EditableKind[], live: LiveContent | undefined): Generator<void, EntityName[]> {
    const pruned: EntityName[] = [];
    const isLeft = (kind: EditableKind, { id, owner }: Stored): boolean =>
      owner !== undefined && owner === this.#owner && !this.#met.has(`${kind}/${id}`);
    for (const kind of kinds) {
      for (const entity of yield* this.#state.sorted(kind)) {
        yield;
        if (!isLeft(kind, entity)) continue;
        this.#touch(kind, entity.id);
        this.#state.deleteEntity(kind, entity.id, this.#index);
        pruned.push([kind, entity.id]);
      }
      if (live === undefined || kind === 'secrets') continue;
      for (const entity of live.entities[kind]) {
        yield;
        if (!isLeft(kind, entity) || this.#state.entity(kind, entity.id) !== undefined) continue;
        this.#touch(kind, entity.id);
        pruned.push([kind, entity.id]);
      }
    }
    return pruned;
  }

  /** Refuses the operation that gives a consumer a credential which is of another one at the end. */
  *sharedCredential(): Generator<void, Decision | undefined> {
    const names = this.touched.map(({ kind, id }) => [kind, id] as const);
    const found = yield* sharedCredential(this.#state, consumersAmong(this.#state, names));
    if (found === undefined) return undefined;
    // Operations touch one entity each, in their order.
    const operation = this.touched.findIndex(({ kind, id }) => kind === 'consumers' && id === found.id);
    return { ...found.refusal, operation };
  }

  #touch(kind: EditableKind, id: string): void {
    this.#met.add(`${kind}/${id}`);
    this.touched.push({ kind, id, before: this.#state.entity(kind, id) });
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
    const wanted = name ?? spec?.fields.name;
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

  #create({ kind, ifMatch }: BatchOperation, id: string, sent: SpecText): Decision | undefined {
    if (ifMatch !== undefined) return { status: 412, error: `${nounOf(kind)} "${id}" does not exist` };
    const taken = idTaken(this.#state, kind, id) ?? this.#takeName(kind, id, String(sent.fields.name));
    if (taken !== undefined) return taken;
    this.#state.putEntity(kind, this.#entityOf(kind, id, sent.withId(id), this.#ownerFor(sent.fields, undefined)));
    return this.#done(id, this.#index, 1);
  }

  #update({ op, kind, ifMatch }: BatchOperation, id: string, sent: SpecText): Decision | undefined {
    const { fields } = sent;
    const missing = missingOrChanged(this.#state, kind, id, ifMatch);
    if (missing !== undefined) return missing;
    const taken = this.#takeName(kind, id, String(fields.name));
    if (taken !== undefined) return taken;
    const before = this.#state.entity(kind, id);
    const whole = sent.withId(id);
    const kept = before === undefined ? {} : keptFields(before, whole.fields);
    const entity = this.#entityOf(kind, id, whole, { ...kept, ...this.#ownerFor(fields, before) });
    if (op === 'upsert' && before !== undefined && isSame(before, entity)) return this.#done(id, before.revision, 0);
    this.#state.putEntity(kind, entity);
    return this.#done(id, this.#index, 1, formerOwner(before, fields.owner ?? this.#owner));
  }

  #delete({ kind, ifMatch, missingOk }: BatchOperation, id: string): Decision | undefined {
    if (missingOk && this.#state.find(kind, id) === undefined) return this.#done(id, 0, 0);
    const missing = missingOrChanged(this.#state, kind, id, ifMatch);
    if (missing !== undefined) return missing;
    const before = this.#state.entity(kind, id);
    this.#state.deleteEntity(kind, id, this.#index);
    return this.#done(id, 0, 1, formerOwner(before, this.#owner));
  }

  /** The text goes on as it came where nothing is kept beside it. */
  #entityOf(kind: EditableKind, id: string, sent: SpecText, kept: KeptFields): Entity {
    const fields = withKept(sent.fields, kept);
    const { json } = fields === sent.fields ? sent : new SpecText(fields);
    const changedAt = this.#state.changeTime(kind, id, fields);
    return new Entity(id, this.#index, json, fields, { writer: this.#owner, changedAt });
  }

  /** Owner of a batch, for an entity that has none and is given none. */
  #ownerFor(fields: Spec, before: Entity | undefined): { owner?: string } {
    const isFree = fields.owner === undefined && before?.owner === undefined && this.#owner !== undefined;
    return isFree ? { owner: this.#owner } : {};
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
    return { status: 404, error: `${nounOf(kind)} named ${JSON.stringify(name ?? spec?.fields.name)} not found` };
  }
}

const twice = ({ kind }: BatchOperation, id: string): Decision => ({
  status: 400,
  error: `${nounOf(kind)} "${id}" is written by an earlier operation of this batch already`,
});
