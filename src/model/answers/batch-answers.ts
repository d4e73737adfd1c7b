// Answers of `POST /batch` and `POST /batch/large`.
import { flag, integer, list, nullable, object, oneOf, text } from '../json-type.ts';
import type { EditableKind } from '../kinds.ts';
import type { Problem } from '../problem.ts';
import { Component, Optional, Required } from '../property.ts';
import { SnapshotSummary } from '../snapshot.ts';
import { kindOfResource } from './batch-request.ts';
import { EntityDifference, EntityKey } from './entity-difference.ts';
import { Convergence } from './fleet-answers.ts';
import { snapshotWarnings } from './snapshot-answers.ts';

/** Members of the answers of both. */
class BatchOutcome {
  @Optional(integer, 'Log index of all of it; absent in a dry run.')
  readonly index?: number;

  @Optional(list(object(EntityKey)), 'What was deleted because no operation named it; absent without `prune`.')
  readonly pruned?: readonly EntityKey[];

  @Optional(object(EntityDifference), 'What would change, field by field; only in a dry run.')
  readonly entities?: EntityDifference;

  @Optional(object(Convergence), 'How many proxies have it; only with `snapshot.wait`.')
  readonly convergence?: Convergence;

  @Optional(object(SnapshotSummary), 'The snapshot; absent when none was asked for.')
  readonly snapshot?: SnapshotSummary;

  @Optional(
    snapshotWarnings,
    'Changes of what another owner maintains, and what is doubtful about the snapshot, as its creation would list ' +
      'it; of a dry run, about the one that would be.',
  )
  readonly warnings?: readonly Problem[];

  @Optional(snapshotWarnings, 'What would keep a snapshot from being made; only in a dry run.')
  readonly problems?: readonly Problem[];
}

export const foreseenActions = ['create', 'update', 'delete', 'none'] as const;

export class BatchResult {
  @Optional(text, 'As sent; absent in a dry run.')
  readonly op?: string;

  @Optional(oneOf(foreseenActions), 'What would happen; only in a dry run.')
  readonly action?: (typeof foreseenActions)[number];

  @Required(kindOfResource)
  readonly kind!: EditableKind;

  @Required(text, 'Id of the resource.')
  readonly id!: string;

  @Optional(nullable(text), 'Quoted revision; null when it is gone.')
  readonly etag?: string | null;

  @Optional(flag, 'Whether anything was written.')
  readonly changed?: boolean;

  @Optional(list(text), 'JSON pointers of what an update would change; only in a dry run.')
  readonly changes?: readonly string[];
}

@Component('What became of a batch.')
export class BatchAnswer extends BatchOutcome {
  @Required(list(object(BatchResult)), 'One for each operation, in order.')
  readonly results!: readonly BatchResult[];
}

@Component('What became of a large batch.')
export class LargeBatchAnswer extends BatchOutcome {
  @Required(integer, 'Number of operations that changed something, or would.')
  readonly changed!: number;
}
