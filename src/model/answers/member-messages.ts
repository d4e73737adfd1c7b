// Messages between the nodes of one cluster. Their shape may change with a release.
import { either, exactly, integer, limited, list, object, oneOf, open, text } from '../json-type.ts';
import { Component, Optional, Required } from '../property.ts';

const form = 'Version of this form.';

/** Name of one write (raft.md A15). */
export class RequestId {
  @Required(text, 'Node that received the write.')
  readonly origin!: string;

  @Required(integer, 'Drawn when the store of that node was created.')
  readonly incarnation!: number;

  @Required(integer, 'Start counter of that node.')
  readonly boot!: number;

  /** From 1 on. */
  @Required(integer, 'Counts the writes of that start.')
  readonly seq!: number;

  /** Their results may be forgotten. */
  @Required(integer, 'Every lower `seq` of that start is answered.')
  readonly ackedBelow!: number;
}

@Component(
  'A write on its way from the node that received it to the leader; or up to 64 of them in `writes`, each with its ' +
    '`requestId`, `command` and `remainingMs`.',
)
export class RelayedWrite {
  @Required(exactly(1), form)
  readonly v!: 1;

  @Required(text, 'Cluster that the write is for.')
  readonly clusterId!: string;

  @Optional(
    limited(object(RequestId), { description: 'Names one write for ever: the same one again has no second effect.' }),
  )
  readonly requestId?: RequestId;

  @Optional(limited(text, { format: 'byte' }), 'The command as the log carries it, base64.')
  readonly command?: string;

  @Optional(limited(integer, { minimum: 1 }), 'How long the caller at the border still waits.')
  readonly remainingMs?: number;

  @Required(exactly(1), 'A write is relayed once.')
  readonly hop!: 1;

  @Optional(list(open()), 'Several writes in place of one.')
  readonly writes?: readonly object[];
}

export class Decision {
  @Required(
    either(integer, oneOf(['moved'])),
    'Status for the caller at the border; `moved`: the capture has to look again.',
  )
  readonly status!: number | 'moved';

  @Required(text, 'Kind of the resource.')
  readonly kind!: string;

  @Required(text, 'Id of the resource.')
  readonly id!: string;

  @Optional(text, 'Why it was refused.')
  readonly error?: string;
}

@Component('What became of a relayed write; of several, `answers` in their order.')
export class RelayedResult {
  @Optional(list(open()), 'Of each, `status` and `body` as it would have been answered alone.')
  readonly answers?: readonly object[];

  @Optional(integer, 'Log index at which it was decided.')
  readonly index?: number;

  @Optional(object(Decision), 'The decision; refusals are decisions too.')
  readonly result?: Decision;
}

@Component('One node asks another which states it was in lately.')
export class StateQuestion {
  @Required(exactly(1), form)
  readonly v!: 1;

  @Required(text, 'Cluster that both belong to.')
  readonly clusterId!: string;
}

@Component('The states that a node was in lately.')
export class StateHashes {
  @Required(text, 'Name and incarnation of the node that answers.')
  readonly member!: string;

  @Required(
    list(list(either(integer, text), { minItems: 2, maxItems: 2 })),
    'Pairs of an applied index and the state hash after it, ascending.',
  )
  readonly hashes!: readonly (readonly (number | string)[])[];
}

@Component('What one node asks another about its proxies.')
export class FleetQuestion {
  @Required(exactly(1), form)
  readonly v!: 1;

  @Required(text, 'Cluster that the question is for.')
  readonly clusterId!: string;

  @Required(text, 'Node that the question is for.')
  readonly to!: string;

  @Required(open(), 'Understood between nodes of one version.')
  readonly question!: object;
}

@Component('The answer to it.')
export class FleetAnswer {
  @Required(open(), 'Understood between nodes of one version.')
  readonly answer!: object;
}
