// Tells other members of the cluster which state hashes this node had lately.
import type { MemberId } from '../../../raft/index.ts';
import { SluiceError } from '../../errors.ts';
import { MemberGuard, type MemberGuardOptions, type MemberHead } from '../relay/member-guard.ts';
import type { Hashes } from './hash-verdict.ts';
import { decodeHashRequest, encodeHashAnswer } from './hash-wire.ts';

export interface HashServerOptions extends MemberGuardOptions {
  /** Undefined: this node belongs to no cluster yet. */
  readonly clusterId: () => string | undefined;
  readonly member: () => Promise<MemberId | undefined>;
  readonly hashes: () => Hashes;
}

export class HashServer extends MemberGuard {
  readonly #options: HashServerOptions;

  constructor(options: HashServerOptions) {
    super(options);
    this.#options = options;
  }

  /** JSON text. Throws UNAUTHENTICATED, FORBIDDEN, INVALID, and UNAVAILABLE on a node that takes no part. */
  async take(head: MemberHead, body: Uint8Array): Promise<string> {
    this.check(head, body);
    const question = decodeHashRequest(body);
    if (typeof question === 'string') throw new SluiceError('INVALID', question);
    const { clusterId, member, hashes } = this.#options;
    const own = clusterId();
    if (own !== undefined && own !== question.clusterId) {
      throw new SluiceError('INVALID', `the question is for cluster ${question.clusterId}, this node is of ${own}`);
    }
    const id = await member();
    if (id === undefined) throw new SluiceError('UNAVAILABLE', 'this node takes no part in a cluster');
    return encodeHashAnswer({ member: id, hashes: hashes() });
  }
}
