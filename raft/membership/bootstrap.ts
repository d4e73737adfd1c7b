// Bootstrap decision: which node creates the cluster (raft.md A19). Exactly one node may, and only after every
// expected node has said itself that it belongs to none. Two creators would be two clusters, and no protocol can join
// those again.
import { type Config, emptyConfig, type Member, type MemberId, memberId } from '../core/types.ts';

/** Node as it describes itself for the bootstrap; a part of its greeting. */
export interface Founder {
  readonly nodeId: string;
  readonly incarnation: number;
  readonly clusterId: string | undefined;
  readonly address: string;
  readonly clientAddress: string;
  /** Node ids it expects or has met, for discovery. */
  readonly expects: readonly string[];
}

export type Founding =
  /** This node creates the cluster with this first configuration. */
  | { readonly kind: 'create'; readonly config: Config }
  /** Another node creates it, or one belongs to a cluster already: that node will make contact. */
  | { readonly kind: 'wait'; readonly why: string };

/**
 * Static peers: the smallest node id of the list creates, once all of the list have been met without a cluster.
 * `peers` holds the node ids of the list, this node's included; `met` the latest greeting of each node met.
 */
export function staticFounding(self: Founder, peers: readonly string[], met: readonly Founder[]): Founding {
  const member = met.find(({ clusterId }) => clusterId !== undefined);
  if (member !== undefined) return wait(toBeTakenIn(self, member));
  const list = [...peers].sort();
  const other = met.find(({ expects }) => [...expects].sort().join() !== list.join());
  if (other !== undefined) return wait(`${other.nodeId} expects ${other.expects.join(', ') || 'no node'}`);
  const creator = list[0];
  if (creator !== self.nodeId) return wait(`${creator} creates the cluster`);
  const missing = peers.filter((nodeId) => nodeId !== self.nodeId && !met.some((each) => each.nodeId === nodeId));
  if (missing.length > 0) return wait(`not met yet: ${missing.join(', ')}`);
  const founders = peers.map((nodeId) => (nodeId === self.nodeId ? self : met.find((each) => each.nodeId === nodeId)));
  return { kind: 'create', config: configOf(founders.filter((each) => each !== undefined)) };
}

/**
 * Discovery gives addresses only. Exactly `expect` nodes must have been met, all without a cluster, all naming the
 * same nodes; the caller asks for this to hold twice in a row, with fresh greetings.
 */
export function discoveredFounding(self: Founder, expect: number, met: readonly Founder[]): Founding {
  const member = met.find(({ clusterId }) => clusterId !== undefined);
  if (member !== undefined) return wait(toBeTakenIn(self, member));
  const everyone = [self, ...met].sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  const names = everyone.map(({ nodeId }) => nodeId);
  if (new Set(names).size !== names.length) return wait(`a node id is used twice: ${names.join(', ')}`);
  if (everyone.length !== expect) return wait(`met ${names.join(', ')}; ${expect} nodes are expected`);
  const stranger = met.find(({ expects }) => [...expects].sort().join() !== names.join());
  if (stranger !== undefined) return wait(`${stranger.nodeId} has met ${stranger.expects.join(', ') || 'no node'}`);
  if (names[0] !== self.nodeId) return wait(`${names[0]} creates the cluster`);
  return { kind: 'create', config: configOf(everyone) };
}

/** Explains a name that a leading member already has: its node need never meet that member, and would wait for ever. */
function toBeTakenIn({ nodeId: own }: Founder, { nodeId, clusterId }: Founder): string {
  return (
    `${nodeId} belongs to cluster ${clusterId}, whose leader takes this node in once they are connected ` +
    `(autoJoin: learner) or an operator adds it; if a node called ${own} runs there, give this one another nodeId ` +
    'or stop that one'
  );
}

/** The first configuration: all founders vote. */
export function configOf(founders: readonly Founder[]): Config {
  const members = founders.map(memberOf).sort(byId);
  return { ...emptyConfig, voters: members.map(({ id }) => id), members };
}

export function memberOf(candidate: Founder): Member {
  return { id: memberId(candidate), address: candidate.address, clientAddress: candidate.clientAddress };
}

/** Node ids and addresses compare by code unit, like the ids of a configuration everywhere. */
function byId(a: { readonly id: MemberId }, b: { readonly id: MemberId }): number {
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

function wait(why: string): Founding {
  return { kind: 'wait', why };
}
