// Answers questions of other members of the cluster. Who asks must be a member, and must mean this node: an address may
// lead to another one than it did.
import { SluiceError } from '../../errors.ts';
import { isObject } from '../../model/json-object.ts';
import { jsonOf } from '../../util/malformed-json.ts';
import { MemberGuard, type MemberGuardOptions, type MemberHead } from '../relay/member-guard.ts';

export interface PeerServerOptions extends MemberGuardOptions {
  readonly nodeId: string;
  /** Undefined: this node belongs to no cluster yet. */
  readonly clusterId: () => string | undefined;
  /** Throws INVALID for a question that is none. */
  readonly answer: (question: Readonly<Record<string, unknown>>) => Promise<object> | object;
}

export class PeerServer extends MemberGuard {
  readonly #options: PeerServerOptions;

  constructor(options: PeerServerOptions) {
    super(options);
    this.#options = options;
  }

  /** JSON text. Throws UNAUTHENTICATED, FORBIDDEN, INVALID. */
  async take(head: MemberHead, body: Uint8Array): Promise<string> {
    this.check(head, body);
    const value = jsonOf(body);
    const { nodeId, clusterId, answer } = this.#options;
    if (!isObject(value) || value.v !== 1 || !isObject(value.question)) {
      throw new SluiceError('INVALID', 'the body is no question of version 1');
    }
    if (value.clusterId !== clusterId()) throw new SluiceError('INVALID', 'the question is for another cluster');
    if (value.to !== nodeId) throw new SluiceError('INVALID', 'the question is for another node');
    return JSON.stringify({ answer: await answer(value.question) });
  }
}
