// Asks one member of the cluster a question and takes its answer, both JSON, over the connection that members prove
// themselves on. What questions there are is for others to say.
import { identityOf, type Member } from '../../../raft/index.ts';
import type { Clock } from '../../clock.ts';
import type { LeaderConnections } from '../relay/leader-connections.ts';
import { signedAuthorization } from '../relay/relay-credential.ts';
import { isRecord, parse } from '../relay/relay-wire.ts';

export interface PeerClientOptions {
  readonly connections: Pick<LeaderConnections, 'call'>;
  readonly clusterId: () => string | undefined;
  /** From the cluster token or what stands in for it; undefined: requests carry no proof. */
  readonly key: Uint8Array | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly newNonce: () => string;
}

const peerPath = '/sync/fleet';

export class PeerClient {
  readonly #options: PeerClientOptions;

  constructor(options: PeerClientOptions) {
    this.#options = options;
  }

  /** Undefined when that very member gives no answer in time. Never rejects. */
  async ask({ id, clientAddress: address }: Member, question: object, withinMs: number): Promise<unknown> {
    const { connections, clusterId, key, clock, newNonce } = this.#options;
    const own = clusterId();
    if (own === undefined || address === '') return undefined;
    const body = Buffer.from(JSON.stringify({ v: 1, clusterId: own, to: identityOf(id).nodeId, question }));
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (key !== undefined) {
      const stamp = { unixMs: clock.nowMs(), nonce: newNonce() };
      headers.authorization = signedAuthorization(key, { method: 'POST', path: peerPath, body }, stamp);
    }
    const reply = await connections.call({ address, method: 'POST', path: peerPath, headers, body, withinMs });
    const answer = 'status' in reply && reply.status === 200 ? parse(reply.body) : undefined;
    return isRecord(answer) ? answer.answer : undefined;
  }
}
