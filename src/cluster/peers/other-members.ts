// Other members of the cluster, as targets of peer requests.
import { identityOf } from '../../../raft/index.ts';
import type { Cluster } from '../members/cluster.ts';
import type { PeerClient } from './peer-client.ts';

export interface OtherMember {
  readonly nodeId: string;
  /** Undefined when it gives no answer in time. Never rejects. */
  ask(question: object, withinMs: number): Promise<unknown>;
}

/** Returns the other members that this node knows of at the moment; none while it belongs to no cluster. */
export async function otherMembers(cluster: Pick<Cluster, 'status'>, client: PeerClient): Promise<OtherMember[]> {
  const status = await cluster.status();
  if (status === undefined) return [];
  return status.config.members
    .filter(({ id }) => id !== status.id)
    .map((member) => ({
      nodeId: identityOf(member.id).nodeId,
      ask: (question, withinMs) => client.ask(member, question, withinMs),
    }));
}
