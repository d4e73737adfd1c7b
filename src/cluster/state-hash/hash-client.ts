// Asks one member of the cluster for its state hashes.
import type { Member } from '../../../raft/index.ts';
import type { Clock } from '../../clock.ts';
import type { LeaderConnections } from '../relay/leader-connections.ts';
import { signedAuthorization } from '../relay/relay-credential.ts';
import type { Hashes } from './hash-verdict.ts';
import { decodeHashAnswer, encodeHashQuestion } from './hash-wire.ts';

export interface HashClientOptions {
  readonly connections: LeaderConnections;
  readonly clusterId: () => string | undefined;
  /** From the cluster token or what stands in for it; undefined: requests carry no proof. */
  readonly key: Uint8Array | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly newNonce: () => string;
}

const path = '/sync/state-hash';
const withinMs = 5_000;

export class HashClient {
  readonly #options: HashClientOptions;

  constructor(options: HashClientOptions) {
    this.#options = options;
  }

  /** Undefined when that very member does not answer. Never rejects. */
  async ask({ id, clientAddress: address }: Member): Promise<Hashes | undefined> {
    const { connections, clusterId, key, clock, newNonce } = this.#options;
    const own = clusterId();
    if (own === undefined || address === '') return undefined;
    const body = encodeHashQuestion(own);
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (key !== undefined) {
      const stamp = { unixMs: clock.nowMs(), nonce: newNonce() };
      headers.authorization = signedAuthorization(key, { method: 'POST', path, body }, stamp);
    }
    const reply = await connections.call({ address, method: 'POST', path, headers, body, withinMs });
    const answer = 'status' in reply && reply.status === 200 ? decodeHashAnswer(reply.body) : undefined;
    return answer?.member === id ? answer.hashes : undefined;
  }
}
