// Bodies of the operations that make something live. Every field is optional but the name of a snapshot.
import { commentConstraint, shortComment } from './comment.ts';
import { Flag, Name, OneOfNumbers, Text } from './field.ts';
import { Rules } from './rule.ts';

@Rules<ActivationRequest>({ shortComment }, commentConstraint)
export class ActivationRequest {
  @Text('For those who look at the history, at most 500 characters.')
  readonly comment?: string;
}

/** Target of a promotion; when it is absent, the next step of the rollout. */
export class PromotionRequest {
  @OneOfNumbers([100], 'To the end at once.')
  readonly share?: number;
}

@Rules<BatchSnapshotRequest>({ shortComment }, commentConstraint)
export class BatchSnapshotRequest {
  @Name()
  readonly name!: string;

  @Flag('Makes it live at the same index.', { default: false })
  readonly activate?: boolean;

  @Text('Kept with the activation, at most 500 characters.')
  readonly comment?: string;

  @Flag('As in creating a snapshot.', { default: false })
  readonly strict?: boolean;
}
