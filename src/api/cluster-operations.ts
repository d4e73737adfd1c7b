// The operations on the cluster: reads the request, asks the cluster's admin on this node or the leader's API, writes the answer.
// Every node answers alike, because the leader does; without one, each shows what it knows.
import type { Backups } from '../cluster/checkpoints/backup.ts';
import type { ClusterAdmin } from '../cluster/members/cluster-admin.ts';
import { type LeaderOperation, type LeaderOperations, relayedHeader } from '../cluster/members/leader-operations.ts';
import { SluiceError } from '../errors.ts';
import { isAbsentText } from '../model/json-object.ts';
import { pointerOf } from '../model/problem.ts';
import type { Answer, ApiRequest } from '../resources/answer.ts';
import { objectBody, optionalBody } from '../resources/json-body.ts';
import { flagOf } from '../resources/query.ts';
import { printable } from '../resources/warnings.ts';

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

  /** What the leader knows; what this node knows where the leader cannot be asked. */
  async overview(request: ClusterRequest): Promise<Answer> {
    const own = async (): Promise<Answer> => answer(200, await this.#admin.overview());
    return await this.#atLeader(request, own).catch((error: unknown) => {
      if (error instanceof SluiceError && error.code === 'UNAVAILABLE') return own();
      throw error;
    });
  }

  add(request: ClusterRequest): Promise<Answer> {
    return this.#atLeader(request, async () => {
      const { nodeId, address } = fields(objectBody(request.body), ['nodeId', 'address']);
      return answer(201, await this.#admin.add({ nodeId, address }));
    });
  }

  promote(nodeId: string, request: ClusterRequest): Promise<Answer> {
    return this.#atLeader(request, async () => {
      fields(optionalBody(request.body), []);
      return answer(200, await this.#admin.promote(nodeId));
    });
  }

  replace(nodeId: string, request: ClusterRequest): Promise<Answer> {
    return this.#atLeader(request, async () => {
      const { by } = fields(objectBody(request.body), ['by']);
      return answer(200, await this.#admin.replace(nodeId, by));
    });
  }

  remove(nodeId: string, request: ClusterRequest): Promise<Answer> {
    return this.#atLeader(request, async () => {
      await this.#admin.remove(nodeId, flagOf(request, 'force'));
      return { status: 204, headers: {}, body: '' };
    });
  }

  transfer(request: ClusterRequest): Promise<Answer> {
    return this.#atLeader(request, async () => {
      const { to: named, ...others } = optionalBody(request.body);
      const to = isAbsentText(named) ? fields(others, []) && undefined : fields({ ...others, to: named }, ['to']).to;
      return answer(200, { leader: await this.#admin.transfer(to) });
    });
  }

  /** The file and its name. Any node can make one. */
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

/** As the leader's own answer says. */
const retryAfter = { 'Retry-After': '1' };

const lengthMax = 256;

/** Exactly these fields, each a short text. Throws INVALID. */
function fields<Name extends string>(
  body: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Record<Name, string> {
  const strange = Object.keys(body).find((name) => !names.some((known) => known === name));
  if (strange !== undefined) throw new SluiceError('INVALID', `unknown field ${printable(pointerOf(strange), ' ')}`);
  const read = (name: Name): [Name, string] => {
    const value = body[name];
    if (typeof value === 'string' && value !== '' && value.length <= lengthMax) return [name, value];
    throw new SluiceError('INVALID', `/${name} must be a text of 1 to ${lengthMax} characters`);
  };
  return Object.fromEntries(names.map(read)) as Record<Name, string>;
}
