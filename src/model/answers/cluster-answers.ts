// The cluster: its members, and changes of the membership.
import { flag, integer, limited, list, nullable, number, object, oneOf, text } from '../json-type.ts';
import { placePattern } from '../pattern.ts';
import { Component, Optional, Required } from '../property.ts';

export const memberRoles = ['leader', 'voter', 'learner', 'leaving'] as const;

@Component('A node of the cluster.', { as: 'Member' })
export class MemberView {
  @Required(text, 'Its name.')
  readonly nodeId!: string;

  @Required(integer, 'Tells two lives of one name apart.')
  readonly incarnation!: number;

  @Required(oneOf(memberRoles), 'A learner follows and does not vote.')
  readonly role!: (typeof memberRoles)[number];

  @Required(text, 'Where peers reach it, `host:port`.')
  readonly raftAddress!: string;

  @Required(text, 'Where its API is, `host:port`; empty when it says none.')
  readonly apiAddress!: string;

  /** Null where this node does not lead. */
  @Required(nullable(integer), 'Last index that it holds; null when not known.')
  readonly match!: number | null;

  /** Entries behind the commit index of the leader. */
  @Required(nullable(integer), 'Entries it is behind; null when not known.')
  readonly lag!: number | null;

  /** True if a message of it reached the leader lately. */
  @Required(nullable(flag), 'Heard of lately; null when not known.')
  readonly healthy!: boolean | null;

  @Required(
    nullable(number),
    'Seconds that its clock is ahead of that of the node that answers; null when it does not tell.',
  )
  readonly clockOffsetSeconds!: number | null;
}

/**
 * Extent of the log on disk. An operator who chooses between the nodes that are left needs the last index and its term.
 */
export class LogExtent {
  @Required(integer, 'First index.')
  readonly first!: number;

  @Required(integer, 'Last index.')
  readonly last!: number;

  @Required(
    integer,
    'Term of the last entry: of two logs the one with the higher term, then the longer one, reaches further.',
  )
  readonly lastTerm!: number;
}

export class MemberCandidate {
  @Required(text, 'Name of the node.')
  readonly nodeId!: string;

  @Required(text, 'Where peers reach it.')
  readonly raftAddress!: string;
}

@Component('The cluster, as its leader sees it; as this node does while there is no leader.', { as: 'Cluster' })
export class ClusterOverview {
  @Required(flag, 'False: a cluster of one, without a `raft` section.')
  readonly clustered!: boolean;

  @Required(nullable(text), 'Drawn when the cluster was created.')
  readonly clusterId!: string | null;

  @Required(nullable(text), 'Name of the node that leads; null while none does.')
  readonly leader!: string | null;

  @Required(integer, 'Counts elections.')
  readonly term!: number;

  @Required(integer, 'Last index that the cluster agreed on.')
  readonly commit!: number;

  @Required(integer, 'Last index that is applied.')
  readonly applied!: number;

  @Required(object(LogExtent), 'What of the log is kept; earlier entries are in checkpoints.')
  readonly log!: LogExtent;

  @Required(list(object(MemberView)), 'Voters and learners, ascending by name.')
  readonly members!: readonly MemberView[];

  @Required(list(object(MemberCandidate)), 'Connected nodes that belong to no cluster yet.')
  readonly candidates!: readonly MemberCandidate[];
}

/** Name or address that the leader takes. */
const word = limited(text, { minLength: 1, maxLength: 256 });

@Component('A started node that waits for this cluster.')
export class MemberRequest {
  @Required(word, 'Its name.', { example: 'node-4' })
  readonly nodeId!: string;

  @Required(limited(word, { pattern: placePattern }), 'Where peers reach it, `host:port` as `candidates` shows it.', {
    example: '10.0.0.4:7000',
  })
  readonly address!: string;
}

@Component('Who votes instead.')
export class ReplacementRequest {
  @Required(word, 'Name of a learner that has caught up.', { example: 'node-4' })
  readonly by!: string;
}

@Component('Who shall lead. `null` or no body: the most up-to-date voter.', { nullable: true })
export class TransferRequest {
  @Optional(word, 'Name of a voter.', { example: 'node-2' })
  readonly to?: string;

  @Optional(
    word,
    'Name of the member that is to hand over. Nothing moves where another one leads, so that a repetition is safe.',
    { example: 'node-1' },
  )
  readonly from?: string;
}

@Component('Who leads now.')
export class Leadership {
  @Required(text, 'Name of the node.')
  readonly leader!: string;
}
