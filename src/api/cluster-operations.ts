// Operations on the cluster: reads the request, asks the cluster's admin on this node or the leader's API, writes the answer.
// Every node gives the leader's answer; without a leader, a node gives its own.
import type { Backups } from '../cluster/checkpoints/backup.ts';
import type { ClusterAdmin } from '../cluster/members/cluster-admin.ts';
import { type LeaderOperation, type LeaderOperations, relayedHeader } from '../cluster/members/leader-operations.ts';
import { SluiceError } from '../errors.ts';
import { isAbsentText, type JsonObject } from '../model/json-object.ts';
import { withoutBody, withoutFields } from '../resources/checked-body.ts';
import { objectBody, optionalBody } from '../resources/json-body.ts';
import { flagOf } from '../resources/query.ts';
import type { Answer, ApiRequest } from '../resources/resource-answer.ts';
import type { Warnings } from '../resources/warnings.ts';

export interface ClusterRequest extends ApiRequest {
  readonly method: LeaderOperation['method'];
  /** Request target as sent, query included. */
  readonly target: string;
}

export interface ClusterOperationsOptions {
  readonly admin: ClusterAdmin;
  readonly leader: LeaderOperations;
  readonly backups: Backups;
}

export class ClusterOperations {
  readonly #admin: ClusterAdmin;
  readonly #leader: LeaderOperations;
  readonly #backups: Backups;

  constructor({ admin, leader, backups }: ClusterOperationsOptions) {
    this.#admin = admin;
    this.#leader = leader;
    this.#backups = backups;
  }

  /** Overview of the leader; this node's own where the leader cannot be reached. */
  async overview(request: ClusterRequest): Promise<Answer> {
    const own = async (): Promise<Answer> => answer(200, await this.#admin.overview());
    return await this.#atLeader(request, own).catch((error: unknown) => {
      if (error instanceof SluiceError && error.code === 'UNAVAILABLE') return own();
      throw error;
    });
  }

  async add(request: ClusterRequest): Promise<Answer> {
    const { fields, unknownFields } = wordsOf(await objectBody(request.body), ['nodeId', 'address'], request);
    const answered = this.#atLeader(request, async () =>
      answer(201, await this.#admin.add(fields, request.caller.name)),
    );
    return warned(await answered, unknownFields);
  }

  async promote(nodeId: string, request: ClusterRequest): Promise<Answer> {
    const unknownFields = await withoutBody(request);
    const answered = this.#atLeader(request, async () =>
      answer(200, await this.#admin.promote(nodeId, request.caller.name)),
    );
    return warned(await answered, unknownFields);
  }

  async replace(nodeId: string, request: ClusterRequest): Promise<Answer> {
    const { fields, unknownFields } = wordsOf(await objectBody(request.body), ['by'], request);
    const answered = this.#atLeader(request, async () =>
      answer(200, await this.#admin.replace(nodeId, fields.by, request.caller.name)),
    );
    return warned(await answered, unknownFields);
  }

  async remove(nodeId: string, request: ClusterRequest): Promise<Answer> {
    const unknownFields = await withoutBody(request);
    const answered = this.#atLeader(request, async () => {
      await this.#admin.remove(nodeId, flagOf(request, 'force'), request.caller.name);
      return { status: 204, headers: {}, body: '' };
    });
    return warned(await answered, unknownFields);
  }

  async transfer(request: ClusterRequest): Promise<Answer> {
    const sent = await optionalBody(request.body);
    const names = (['to', 'from'] as const).filter((name) => !isAbsentText(sent[name]));
    const others = Object.entries(sent).filter(([name]) => name !== 'to' && name !== 'from');
    const named = names.map((name) => [name, sent[name]]);
    const { fields, unknownFields } = wordsOf(Object.fromEntries([...named, ...others]), names, request);
    const { to, from }: Partial<typeof fields> = fields;
    const answered = this.#atLeader(request, async () => answer(200, { leader: await this.#admin.transfer(to, from) }));
    return warned(await answered, unknownFields);
  }

  /** Returns the file of a backup and its name. Any node can make one. */
  async backup(): Promise<{ readonly file: Buffer; readonly name: string; readonly index: number }> {
    const { head, file } = await this.#backups.make();
    return { file, name: `sluice-${head.index}.backup`, index: head.index };
  }

  async #atLeader(request: ClusterRequest, own: () => Promise<Answer>): Promise<Answer> {
    const address = await this.#admin.elsewhere();
    if (address === undefined) return await own();
    const { method, target: path, headers, body } = request;
    if (headers[relayedHeader] !== undefined) throw new SluiceError('NOT_LEADER', 'this node does not lead');
    const { authorization: key } = headers;
    const authorization = typeof key === 'string' ? key : undefined;
    const answered = await this.#leader.ask({ address, method, path, authorization, body });
    return { ...answered, headers: answered.status === 503 ? retryAfter : {} };
  }
}

const answer = (status: number, body: object): Answer => ({ status, headers: {}, body: JSON.stringify(body) });

/** Header of the leader's own answer. */
const retryAfter = { 'Retry-After': '1' };

/** Adds the unknown fields on the node that took the request: answers over the leader's connection have no headers. */
const warned = (answered: Answer, unknownFields: Warnings): Answer => ({
  ...answered,
  headers: { ...answered.headers, ...unknownFields },
});

const lengthMax = 256;

/** Returns the named fields, each a short text, and headers that name the unknown ones. Throws INVALID. */
function wordsOf<Name extends string>(
  body: JsonObject,
  names: readonly Name[],
  request: ApiRequest,
): { readonly fields: Readonly<Record<Name, string>>; readonly unknownFields: Warnings } {
  const read = (name: Name): [Name, string] => {
    const value = body[name];
    if (typeof value === 'string' && value !== '' && value.length <= lengthMax) return [name, value];
    throw new SluiceError('INVALID', `/${name} must be a text of 1 to ${lengthMax} characters`);
  };
  const fields = Object.fromEntries(names.map(read)) as Record<Name, string>;
  const others = Object.entries(body).filter(([name]) => !names.some((known) => known === name));
  return { fields, unknownFields: withoutFields(Object.fromEntries(others), request) };
}
