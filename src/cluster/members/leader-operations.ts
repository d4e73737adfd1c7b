// An operation on the cluster that only the leader can do, asked of the leader's own API with the caller's own
// credential: whichever node was asked, the answer is the leader's.
import { SluiceError } from '../../errors.ts';
import type { LeaderConnections } from '../relay/leader-connections.ts';

export interface LeaderOperation {
  /** API address of the leader; empty when it advertises none. */
  readonly address: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Request target, query included. */
  readonly path: string;
  /** API key of the caller. */
  readonly authorization: string | undefined;
  readonly body: Buffer;
}

/** Marks a request that was passed on already: the next node does not pass it on again. */
export const relayedHeader = 'x-sluice-relayed';
/** Longer than a membership change or a transfer takes. */
const withinMs = 10_000;

export class LeaderOperations {
  readonly #connections: LeaderConnections;

  constructor(connections: LeaderConnections) {
    this.#connections = connections;
  }

  /** Status and JSON text of the leader's answer. Throws UNAVAILABLE, or OUTCOME_UNKNOWN for a write that got lost. */
  async ask({
    address,
    method,
    path,
    authorization,
    body,
  }: LeaderOperation): Promise<{ status: number; body: string }> {
    if (address === '') throw new SluiceError('UNAVAILABLE', 'the leader advertises no API address');
    const headers = { [relayedHeader]: '1', ...(authorization !== undefined && { authorization }) };
    const reply = await this.#connections.call({ address, method, path, headers, body, withinMs });
    if (reply.is === 'answered') {
      if (reply.status === 421) throw new SluiceError('UNAVAILABLE', 'no node leads the cluster at the moment');
      return { status: reply.status, body: reply.body.toString() };
    }
    if (!reply.sent || method === 'GET') throw new SluiceError('UNAVAILABLE', reply.reason);
    throw new SluiceError('OUTCOME_UNKNOWN', reply.reason, { body: { outcome: 'unknown' } });
  }
}
