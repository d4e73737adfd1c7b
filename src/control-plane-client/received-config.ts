// Configuration received in a `snapshot` event, read into the form that the data plane installs (contract.md §4.2). A
// broken part of an entity stays with that entity, and never opens a door: a route or a group that cannot be read
// whole keeps its requests and answers 500, a middleware or destination that cannot be read is missing to those that
// need it, a listener stays closed (architecture.md §6.19). If the requests of a route are unknown, the whole is
// refused.

import { configDigest } from '../model/config-digest.ts';
import { isObject, type JsonObject } from '../model/json-object.ts';
import { type ConfigKind, configKinds, isWritten, nounOf } from '../model/kinds.ts';
import { describe, type Problem, pointerOf, problemsMax } from '../model/problem.ts';
import type { Candidate, Configuration, ProxyConfig } from '../model/proxy-config.ts';
import { secretsById, secretsByPlace } from '../model/secret-problems.ts';
import { shapes } from '../model/shapes.ts';
import { withStoredKeys } from '../model/stored-api-key.ts';
import { jsonOf } from '../util/malformed-json.ts';
import { ShapeReader } from './shape-reader.ts';

export interface ReceivedConfig {
  readonly config: Omit<ProxyConfig, 'index'>;
  /** Digest of the received text, before any repair. */
  readonly sha256: string;
  /** Strings that came from secrets, entities by id: `/listeners/<id>/tls/key`. Undefined: not given by the sender. */
  readonly secrets: readonly string[] | undefined;
  /** Trace context of its activation, as a `traceparent`; absent when the sender gives none. */
  readonly trace?: string;
  /** Entities that are closed or missing. */
  readonly problems: readonly Problem[];
  /** Durations that gave way to the default of their field. */
  readonly warnings: readonly Problem[];
}

/** The event is of no use; what is installed stays. */
export class UnusableEvent extends Error {
  override readonly name = 'UnusableEvent';
}

/** A candidate as it came. */
export interface ReceivedCandidate extends ReceivedConfig {
  readonly head: Pick<Candidate, 'rollout' | 'share' | 'shadowSample' | 'by' | 'key' | 'deadmanMs'>;
}

/**
 * @throws {UnusableEvent} for data that is no snapshot, and for a snapshot in which the owner of some requests is
 * unknown.
 */
export const readSnapshotEvent = (data: string): ReceivedConfig => receivedOf(parse(data));

const whoms = ['client', 'proxy'] as const;

/** @throws {UnusableEvent} as above, and for an event that does not name its share of clients. */
export function readCandidateEvent(data: string): ReceivedCandidate {
  const event = parse(data);
  const share = shareOf(event);
  const { deadmanMs } = event;
  const by = whoms.find((one) => one === event.by);
  if (by === undefined) throw new UnusableEvent('/by must be client or proxy');
  if (typeof deadmanMs !== 'number' || !(deadmanMs > 0)) throw new UnusableEvent('/deadmanMs must be above 0');
  const head = { ...share, by, key: keyOf(event.key), deadmanMs };
  return { head, ...receivedOf(event) };
}

/** @throws {UnusableEvent} */
export const readShareEvent = (data: string): CandidateShare => shareOf(parse(data));

/** Clients that a candidate serves, and requests that are matched against it. */
export type CandidateShare = Pick<Candidate, 'rollout' | 'share' | 'shadowSample'>;

function shareOf({ rollout, share, shadowSample }: JsonObject): CandidateShare {
  if (typeof rollout !== 'string' || rollout === '') throw new UnusableEvent('/rollout must be an id');
  if (typeof share !== 'number' || !(share >= 0 && share <= 100))
    throw new UnusableEvent('/share must be a percentage');
  if (shadowSample === undefined) return { rollout, share };
  if (typeof shadowSample !== 'number' || !(shadowSample >= 1))
    throw new UnusableEvent('/shadowSample must be 1 or more');
  return { rollout, share, shadowSample };
}

function keyOf(key: unknown): Candidate['key'] {
  if (isObject(key)) {
    if (key.clientIp === true) return { clientIp: true };
    if (typeof key.header === 'string') return { header: key.header };
    if (typeof key.cookie === 'string') return { cookie: key.cookie };
  }
  throw new UnusableEvent('/key must have clientIp, header or cookie');
}

function receivedOf(event: JsonObject): ReceivedConfig {
  const { id, name, createdAt, snapshot, secrets, trace } = event;
  if (!isObject(snapshot)) throw new UnusableEvent('/snapshot must be an object');
  const sha256 = configDigest(snapshot);
  // Before entities are left out, for that moves the others. Only the ids in it are looked at.
  const sent = snapshot as unknown as Configuration;
  const lists = new ListReader();
  const config = { id: textOr(id, ''), name: textOr(name, ''), createdAt: textOr(createdAt, '') };
  const read = Object.fromEntries(
    configKinds.map((kind) => [kind, lists.read(kind, snapshot[kind])] as const).filter((each) => isWritten(...each)),
  );
  if (lists.refusals.length > 0) throw new UnusableEvent(describe(lists.refusals));
  const known = Array.isArray(secrets) ? secretsById({ secrets: secrets.filter(isText), snapshot: sent }) : undefined;
  // ListReader has made it so, as far as the data plane relies on it.
  const taken = read as unknown as Configuration;
  return {
    config: { ...config, snapshot: taken, ...(known !== undefined && { secrets: secretsByPlace(known, taken) }) },
    sha256,
    secrets: known,
    ...(isText(trace) && { trace }),
    problems: lists.problems,
    warnings: lists.warnings,
  };
}

/** A middleware of this id does not exist, for it is no id: a group that needs it is closed. */
const unreadable = '(unreadable)';

const matchFields: Partial<Record<ConfigKind, RegExp>> = {
  routes: /^\/routes\/[^/]*\/(?:match|id|priority|listenerIds)(?:\/|$)/,
  streamRoutes: /^\/streamRoutes\/[^/]*\/(?:match|id)(?:\/|$)/,
  groups: /^\/groups\/[^/]*\/(?:id|routeIds|pathPrefix|pathRegex|hostnames|headers|listenerIds)(?:\/|$)/,
};

class ListReader {
  readonly problems: Problem[] = [];
  readonly refusals: Problem[] = [];
  readonly #shapes = new ShapeReader(shapes);

  get warnings(): readonly Problem[] {
    return this.#shapes.warnings;
  }

  read(kind: ConfigKind, list: unknown): JsonObject[] {
    if (list === undefined || list === null) return [];
    if (!Array.isArray(list)) throw new UnusableEvent(`/${kind} must be a list`);
    return list.map((each: unknown, at) => this.#entity(kind, each, at)).filter((each) => each !== undefined);
  }

  #entity(kind: ConfigKind, entity: unknown, at: number): JsonObject | undefined {
    if (!isObject(entity) || typeof entity.id !== 'string' || entity.id === '') {
      return this.#leaveOut(kind, [{ pointer: pointerOf(kind, at), message: `is no ${nounOf(kind)} with an id` }]);
    }
    // Foreign control planes ask for no names; the data plane shows them to people alone.
    if (typeof entity.name !== 'string' || entity.name === '') entity.name = entity.id;
    const problems = this.#shapes.repair(kind, entity, pointerOf(kind, entity.id));
    if (kind === 'routes' || kind === 'streamRoutes') entity.match ??= {};
    if (kind === 'groups') entity.routeIds ??= [];
    if (kind === 'consumers' && problems.length === 0) return withStoredKeys(entity);
    return problems.length === 0 ? entity : this.#closed(kind, entity, problems);
  }

  #closed(kind: ConfigKind, entity: JsonObject, problems: readonly Problem[]): JsonObject | undefined {
    const ofMatch = matchFields[kind];
    if (ofMatch === undefined || problems.some(({ pointer }) => ofMatch.test(pointer))) {
      return this.#leaveOut(kind, problems);
    }
    this.#note(this.problems, problems);
    if (kind === 'groups') return { ...withoutActions(entity), middlewareIds: [unreadable] };
    return withoutActions(entity);
  }

  /**
   * Leaves an entity out. Routes and groups whose absence would let others catch their requests refuse the whole
   * configuration.
   */
  #leaveOut(kind: ConfigKind, problems: readonly Problem[]): undefined {
    this.#note(matchFields[kind] === undefined ? this.problems : this.refusals, problems);
  }

  #note(list: Problem[], problems: readonly Problem[]): void {
    list.push(...problems.slice(0, problemsMax - list.length));
  }
}

/** Fields that select requests, without those of actions. */
const withoutActions = (entity: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(entity).filter(([name]) => selecting.has(name)));

const selecting: ReadonlySet<string> = new Set([
  ...['id', 'name', 'match', 'priority', 'listenerIds'],
  ...['routeIds', 'pathPrefix', 'pathRegex', 'hostnames', 'headers'],
]);

function parse(data: string): JsonObject {
  const event = jsonOf(data);
  // The parser's message is not told: it quotes the text, and so perhaps a secret.
  if (event === undefined) throw new UnusableEvent('the data is not valid JSON');
  if (!isObject(event)) throw new UnusableEvent('the data is no JSON object');
  return event;
}

const isText = (value: unknown): value is string => typeof value === 'string';

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
