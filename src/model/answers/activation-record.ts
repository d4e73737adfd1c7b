// Activation as it is remembered and answered, which snapshot was live when, and why.
import { integer, nullable, oneOf, text, time } from '../json-type.ts';
import { Component, Required } from '../property.ts';

export const activationReasons = ['activated', 'rollout', 'not confirmed', 'rollback'] as const;

@Component('One activation.', { as: 'Activation' })
export class ActivationRecord {
  @Required(integer, 'Log index.')
  readonly index!: number;

  /** Log time: never earlier than the one before. */
  @Required(time, 'When, UTC.')
  readonly at!: string;

  @Required(text, 'The snapshot, which may be deleted since.')
  readonly snapshotId!: string;

  @Required(text, 'Its name.')
  readonly name!: string;

  /** Null when it was not computed. */
  @Required(nullable(text), 'Of the canonical JSON (RFC 8785) of the lists that proxies got.')
  readonly sha256!: string | null;

  /** Null too for what the cluster did by itself. */
  @Required(nullable(text), 'Name of the API key; null without.')
  readonly by!: string | null;

  @Required(oneOf(activationReasons), 'Why.')
  readonly reason!: (typeof activationReasons)[number];

  @Required(nullable(text), 'What was said about it.')
  readonly comment!: string | null;

  @Required(nullable(text), 'Id of the rollout that ended in it.')
  readonly rollout!: string | null;
}
