// Asks one member of the cluster for its state hashes.
import type { Member } from '../../../raft/index.ts';
import { askMember, type MemberCallOptions } from '../relay/member-call.ts';
import type { Hashes } from './hash-verdict.ts';
import { decodeHashAnswer, encodeHashRequest } from './hash-wire.ts';

const path = '/sync/state-hash';
const withinMs = 5_000;

export class HashClient {
  readonly #options: MemberCallOptions;

  constructor(options: MemberCallOptions) {
    this.#options = options;
  }

  /** Undefined when that very member does not answer. Never rejects. */
  async ask({ id, clientAddress: address }: Member): Promise<Hashes | undefined> {
    const body = await askMember(this.#options, { address, path, bodyFor: encodeHashRequest, withinMs });
    const answer = body && decodeHashAnswer(body);
    return answer?.member === id ? answer.hashes : undefined;
  }
}
