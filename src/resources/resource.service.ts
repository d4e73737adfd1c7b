// Create, read, update and delete for every kind that an operator edits. The controllers of all kinds call it; what
// differs between kinds is the schema, which the model has, and that a secret's value is shown only by itself.

import type { ReplicatedLog } from '../cluster/log/replicated-log.ts';
import { SluiceError } from '../errors.ts';
import { type JsonObject } from '../model/json-object.ts';
import type { EditableKind } from '../model/kinds.ts';
import { describe } from '../model/problem.ts';
import type { Class } from '../model/schema.ts';
import { findReferences } from '../model/secret-reference.ts';
import { classOf } from '../model/validation.ts';
import { resolvedSpec } from '../snapshot/build.ts';
import { resolveReferences } from '../snapshot/collect.ts';
import type { SecretSources } from '../snapshot/secret-sources.ts';
import { type Captured, stagedOf } from '../snapshot/staged.ts';
import type { Result, Spec } from '../state/command.ts';
import { withKept } from '../state/kept-fields.ts';
import { SpecText } from '../state/spec-text.ts';
import type { Stored } from '../state/view.ts';
import { seesSecrets } from './caller.ts';
import { checkedBody } from './checked-body.ts';
import { deletionOf } from './deletion.ts';
import { objectBody } from './json-body.ts';
import { filtered } from './list-filter.ts';
import { type NodeChecks, nodeProblems } from './node-checks.ts';
import { ownerWarning } from './owner-warnings.ts';
import { conditionsOf, idempotencyOf } from './preconditions.ts';
import { flagOf, listFilterOf, showsSecrets } from './query.ts';
import { type Answer, type ApiRequest, entityTag, longJsonArray, revisionHeader } from './resource-answer.ts';
import type { ServiceParts } from './service-parts.ts';
import { notFound, type StateReader } from './state-reader.ts';
import { joined } from './warnings.ts';
import { acceptedHeaders, goneSince } from './write-outcome.ts';

interface Parts extends Pick<ServiceParts, 'reader' | 'log' | 'node' | 'newId'> {
  readonly sources: SecretSources;
}

export class ResourceService {
  readonly #reader: StateReader;
  readonly #log: ReplicatedLog;
  readonly #node: NodeChecks;
  readonly #newId: () => string;
  readonly #sources: SecretSources;

  constructor({ reader, log, node, newId, sources }: Parts) {
    this.#node = node;
    this.#reader = reader;
    this.#log = log;
    this.#newId = newId;
    this.#sources = sources;
  }

  /**
   * 200 with the entities that pass the filters, ascending by id. References of lists show their present values where they
   * are asked for, as far as there are any. Rejects with FORBIDDEN.
   */
  async list(kind: EditableKind, request: ApiRequest): Promise<Answer> {
    const filter = listFilterOf(request);
    const isResolved = showsSecrets(request);
    const showsTimes = kind === 'secrets' && flagOf(request, 'changedAt');
    await this.#reader.catchUp(request);
    const { view } = this.#reader;
    const { applied } = view;
    const list = view.list(kind);
    const values = isResolved ? (await resolveReferences(stagedOf(view), this.#sources)).values : undefined;
    const found = filtered(list, filter, ({ spec }) => spec.labels);
    return {
      status: 200,
      headers: revisionHeader(applied),
      body: longJsonArray(textsOf(kind, found, values, showsTimes)),
    };
  }

  /** 200 with the entity, a secret's value included. Rejects with NOT_FOUND. */
  async get(kind: EditableKind, id: string, request: ApiRequest): Promise<Answer> {
    await this.#reader.catchUp(request);
    const { view } = this.#reader;
    const stored = view.get(kind, id);
    if (stored === undefined) throw notFound(kind, id);
    const headers = { ...entityTag(stored.revision), ...revisionHeader(view.applied) };
    return { status: 200, headers, body: stored.json };
  }

  /** 201 with the created entity. Rejects with INVALID, FORBIDDEN, CONFLICT, KEY_REUSED and what the log rejects with. */
  async create(kind: EditableKind, request: ApiRequest): Promise<Answer> {
    const { entity, headers } = await parse(kind, request, await objectBody(request.body), this.#node);
    const idempotency = idempotencyOf(request);
    const { id: wished, ...fields } = entity;
    const id = typeof wished === 'string' ? wished : this.#newId();
    const spec = new SpecText({ id, ...fields });
    const result = await this.#log.propose({ op: 'put', kind, id, mode: 'create', spec, ...idempotency });
    const accepted = acceptedHeaders(result);
    const created = result.replay === undefined ? spec : this.#asCreated(kind, result, spec.fields);
    if (created === undefined) throw goneSince(result);
    const Location = `/api/v1/${kind}/${encodeURIComponent(result.id)}`;
    return {
      status: 201,
      headers: { Location, ...entityTag(result.index), ...accepted, ...headers },
      body: written(kind, created),
    };
  }

  /** 200 with the whole new entity; the id of the path wins. Rejects as `create` does, and with NOT_FOUND. */
  async replace(kind: EditableKind, id: string, request: ApiRequest): Promise<Answer> {
    await this.#reader.mustExist(kind, id);
    const { id: sent, ...body } = await objectBody(request.body);
    // Of a text the path's stands in place; anything else is named with the other faults of the body (J7).
    const named = typeof sent === 'string' ? body : { ...body, id: sent };
    const { entity, headers } = await parse(kind, request, named, this.#node);
    const override = flagOf(request, 'override');
    const spec = new SpecText({ id, ...entity });
    const conditions = conditionsOf(request, this.#reader.view.revision(kind, id));
    const result = await this.#log.propose({ op: 'put', kind, id, mode: 'update', spec, ...conditions });
    const accepted = acceptedHeaders(result);
    const owned = override ? {} : ownerWarning(result);
    const whole = withKept(spec.fields, result.kept ?? {});
    return {
      status: 200,
      headers: { ...entityTag(result.index), ...accepted, ...joined(headers, owned) },
      body: written(kind, whole === spec.fields ? spec : new SpecText(whole)),
    };
  }

  /** 204. Referencing entities keep the dangling id (contract.md §2.1). Rejects with INVALID, NOT_FOUND, PRECONDITION_FAILED. */
  async remove(kind: EditableKind, id: string, request: ApiRequest): Promise<Answer> {
    await this.#reader.mustExist(kind, id);
    const deletion = await deletionOf(request);
    const conditions = conditionsOf(request, this.#reader.view.revision(kind, id));
    const result = await this.#log.propose({ op: 'delete', kind, id, ...conditions });
    return { status: 204, headers: { ...acceptedHeaders(result), ...deletion.warningsOf(result) }, body: '' };
  }

  /** Entity as its creation is answered. The key keeps nothing of a secret; a replay has the same body, and so the name. */
  #asCreated(kind: EditableKind, { id, replay }: Result, sent: Spec): SpecText | undefined {
    const fields = kind === 'secrets' ? { ...sent, id } : (replay?.spec ?? this.#reader.view.get(kind, id)?.spec);
    return fields && new SpecText(fields);
  }
}

async function parse(kind: EditableKind, request: ApiRequest, body: JsonObject, node: NodeChecks) {
  const { fields: entity, unknownFields: headers } = await checkedBody<Spec>(
    classOf[kind] as Class<Spec>,
    body,
    request,
  );
  if (!seesSecrets(request.caller)) refuseNodeReferences(request, entity);
  const problems = await nodeProblems(node, kind, entity);
  if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
  return { entity, headers };
}

// A reference to the environment or a file reads what belongs to the node, not to the configuration (architecture.md §6.18).
function refuseNodeReferences({ caller }: ApiRequest, entity: Spec): void {
  if (findReferences(entity).every(({ source }) => source === 'value')) return;
  throw new SluiceError('FORBIDDEN', `role ${caller.role} may not write env or file references`);
}

/** Yields the texts of a list, made as they are taken, of the list as it was at the request. */
function* textsOf(
  kind: EditableKind,
  list: Iterable<Stored>,
  values: Captured['values'] | undefined,
  showsTimes: boolean,
): Generator<string> {
  for (const stored of list) {
    if (showsTimes) yield withTime(stored, values !== undefined);
    else if (kind === 'secrets' && values === undefined) yield withoutValue(stored.spec);
    else if (values === undefined || kind === 'secrets' || !stored.holdsReferences) yield stored.json;
    else yield JSON.stringify(resolvedSpec(stored, values));
  }
}

const written = (kind: EditableKind, { fields, json }: SpecText): string =>
  kind === 'secrets' ? withoutValue(fields) : json;

function withTime({ spec: { value, ...shown }, changedAt }: Stored, showsValue: boolean): string {
  const time = changedAt === undefined ? null : new Date(changedAt).toISOString();
  return JSON.stringify({ ...shown, ...(showsValue && { value }), changedAt: time });
}

const withoutValue = ({ value: _, ...shown }: Spec): string => JSON.stringify(shown);
