// Bodies of the operations that make something live. Every field is optional but the name of a snapshot.
import { commentConstraint, shortComment } from './comment.ts';
import { has, isTrue, whenever } from './constraint.ts';
import { Flag, Labels, Name, OneOf, OneOfNumbers, Text, Uint, WaitTimeout, Want } from './field.ts';
import { problemIf, Rules } from './rule.ts';
import { type Severity, severities } from './severity.ts';

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

@Rules<BatchSnapshotRequest>(
  {
    shortComment,
    waitsForActivation: ({ activate, wait }) =>
      problemIf(wait !== undefined && activate !== true, '/wait', 'needs activate'),
  },
  commentConstraint,
  whenever(has('wait'), isTrue('activate')),
)
export class BatchSnapshotRequest {
  @Name()
  readonly name!: string;

  @Flag('Makes it live at the same index.', { default: false })
  readonly activate?: boolean;

  @Text('Kept with the activation, at most 500 characters.')
  readonly comment?: string;

  @Flag('As in creating a snapshot.', { default: false })
  readonly strict?: boolean;

  @OneOf(severities, 'Refused (422) when it has findings of this severity, or graver ones.')
  readonly failOn?: Severity;

  @OneOf(['staged', 'active'], 'What it holds beside the operations: all that is staged, or only what is live.', {
    default: 'staged',
  })
  readonly base?: string;

  @Want('With `activate`: answers when so many connected proxies have it, as `?wait=` of an activation.', {
    example: 'all',
  })
  readonly wait?: string;

  @WaitTimeout('How long to wait at most, up to `60s`.', { default: '5s' })
  readonly timeout?: string;

  @Uint('Number of snapshots of the owner of the batch that stay; older ones that nothing needs are deleted.', {
    min: 1,
    max: 10_000,
  })
  readonly keep?: number;

  @Labels()
  readonly labels?: Readonly<Record<string, string>>;
}
