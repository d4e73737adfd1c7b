// Client of one member of the cluster: sends a request and takes its answer, both JSON, over the connection on which
// members prove themselves. Its callers define the requests.
import { identityOf, type Member } from '../../../raft/index.ts';
import { isObject } from '../../model/json-object.ts';
import { jsonOf } from '../../util/malformed-json.ts';
import { askMember, type MemberCallOptions } from '../relay/member-call.ts';

const path = '/sync/fleet';

export class PeerClient {
  readonly #options: MemberCallOptions;

  constructor(options: MemberCallOptions) {
    this.#options = options;
  }

  /** Undefined when that very member gives no answer in time. Never rejects. */
  async ask({ id, clientAddress: address }: Member, question: object, withinMs: number): Promise<unknown> {
    const bodyFor = (clusterId: string): Buffer =>
      Buffer.from(JSON.stringify({ v: 1, clusterId, to: identityOf(id).nodeId, question }));
    const body = await askMember(this.#options, { address, path, bodyFor, withinMs });
    const answer = body && jsonOf(body);
    return isObject(answer) ? answer.answer : undefined;
  }
}
