// Rollouts, activations in steps, as the API answers them.
import {
  count,
  flag,
  integer,
  list,
  map,
  nullable,
  number,
  object,
  oneOf,
  open,
  record,
  text,
  time,
} from '../json-type.ts';
import { Component, Optional, Required } from '../property.ts';
import { ShareKeyRequest } from '../rollout-request.ts';
import { type ShadowKind, shadowKinds } from '../shadow-kinds.ts';
import { IdAndName } from './id-and-name.ts';

/** Its texts are redacted as those of recent requests are. */
@Component('A request that both configurations treat differently, without values of its query and fields.')
export class ShadowExample {
  @Required(time, 'UTC.')
  readonly time!: string;

  @Required(text, 'Method.')
  readonly method!: string;

  @Required(text, 'Without port.')
  readonly host!: string;

  @Required(text, 'Canonical, without the query.')
  readonly path!: string;

  @Required(list(text), 'Names of the parameters of the query.')
  readonly params!: readonly string[];

  @Required(nullable(object(IdAndName)), 'Route of stable; null: none.')
  readonly from!: IdAndName | null;

  @Required(nullable(object(IdAndName)), 'Route of the candidate; null: none.')
  readonly to!: IdAndName | null;

  /** `route`, `group`, `middlewares`, `destinations`, `rewrite`, `fields`, `answer`, `listener`, `error`. */
  @Required(list(text), 'Parts that differ.')
  readonly what!: readonly string[];
}

export class ShadowCounts {
  @Required(count, 'Requests that were compared.')
  readonly requests!: number;

  @Required(count, 'Without a difference.')
  readonly same!: number;

  @Required(count, 'With another route, group, chain of middlewares, destination, target or request field.')
  readonly moved!: number;

  @Required(count, 'Had a route, would get none.')
  readonly lost!: number;

  @Required(count, 'Had no route, would get one.')
  readonly gained!: number;

  @Required(count, 'With another redirect, answer or response field of Sluice.')
  readonly answersChanged!: number;

  @Required(count, 'Passed, would be rejected.')
  readonly rejectedMore!: number;

  @Required(count, 'Were rejected, would pass.')
  readonly rejectedLess!: number;

  @Required(count, 'Further requests, of which the body or a key was not there.')
  readonly undecided!: number;
}

@Component(
  'Requests that stable served and that were matched against the candidate too. One may differ in several ways.',
)
export class ShadowFigures extends ShadowCounts {
  @Optional(
    record(shadowKinds, list(object(ShadowExample))),
    'At most 100 of each kind; on a rollout that is read by its id.',
  )
  readonly examples?: Readonly<Record<ShadowKind, readonly ShadowExample[]>>;
}

@Component(undefined, { as: 'RolloutStep' })
export class ShownRolloutStep {
  @Optional(number, 'Percent of the clients, or of the proxies.')
  readonly share?: number;

  @Optional(map(text), 'Proxies that have them, whole.')
  readonly labels?: Readonly<Record<string, string>>;

  @Optional(object(ShadowFigures), 'Figures of a shadow step; absent of the others.')
  readonly shadow?: ShadowFigures;

  @Required(text, 'How long it lasts at least.')
  readonly hold!: string;
}

export const rolloutEventKinds = [
  'started',
  'step',
  'guard failed',
  'refused',
  'paused',
  'resumed',
  'promoted',
  'aborted',
  'completed',
  'rolledBack',
] as const;

export class RolloutEvent {
  /** Log time. */
  @Required(time, 'When, UTC.')
  readonly at!: string;

  @Required(nullable(text), 'Name of the API key; null for what the cluster did by itself.')
  readonly by!: string | null;

  @Required(oneOf(rolloutEventKinds), 'What.')
  readonly kind!: (typeof rolloutEventKinds)[number];

  @Required(nullable(text), 'The guard that was false.')
  readonly guard!: string | null;

  @Required(nullable(open<Readonly<Record<string, unknown>>>()), 'What it saw, or the step that began.')
  readonly values!: Readonly<Record<string, unknown>> | null;
}

export const rolloutStates = ['running', 'paused', 'completed', 'rolledBack', 'aborted'] as const;

@Component('A progressive activation.', { as: 'Rollout' })
export class ShownRollout {
  @Required(text, 'Assigned by the server.')
  readonly id!: string;

  @Required(text, 'The candidate.')
  readonly snapshotId!: string;

  @Required(text, 'Name of the candidate.')
  readonly name!: string;

  @Required(nullable(text), 'Of the canonical JSON (RFC 8785) of the lists that proxies get.')
  readonly sha256!: string | null;

  @Required(oneOf(rolloutStates), 'The last three are final.')
  readonly state!: (typeof rolloutStates)[number];

  @Required(flag, 'The snapshot was activated at the end; false for one with shadow steps alone.')
  readonly activated!: boolean;

  @Required(count, 'The step under way, or the last one: its place in `steps`.')
  readonly step!: number;

  @Required(number, 'Percent; 0 where labels choose, and in shadow steps.')
  readonly share!: number;

  @Required(list(object(ShownRolloutStep)), 'As planned; the last one is all, unless all are shadow steps.')
  readonly steps!: readonly ShownRolloutStep[];

  @Required(oneOf(['client', 'proxy']), 'What a share is of.')
  readonly by!: 'client' | 'proxy';

  @Required(object(ShareKeyRequest), 'Which clients stay together.')
  readonly key!: ShareKeyRequest;

  @Required(
    nullable(integer),
    'Of the requests during shadow steps one in so many is compared; null without such steps.',
  )
  readonly shadowSample!: number | null;

  @Required(nullable(object(ShadowFigures)), 'All shadow steps together; null without any.')
  readonly shadow!: ShadowFigures | null;

  @Required(list(text), 'CEL; all must hold.')
  readonly guards!: readonly string[];

  @Required(integer, 'Requests that a step needs before it ends.')
  readonly minRequests!: number;

  @Required(text, 'How often the guards are checked.')
  readonly checkInterval!: string;

  @Required(integer, 'Checks in a row in which a guard is false before it counts.')
  readonly failures!: number;

  @Required(oneOf(['rollback', 'pause']), 'What becomes of it then.')
  readonly onFail!: 'rollback' | 'pause';

  @Required(text, 'How long a proxy without contact goes on serving the candidate.')
  readonly deadman!: string;

  @Required(text, 'A step that could not end by then pauses the rollout.')
  readonly maxStep!: string;

  @Required(nullable(text), 'What was said when it was started.')
  readonly comment!: string | null;

  @Required(nullable(text), 'Name of the API key.')
  readonly startedBy!: string | null;

  @Required(list(object(RolloutEvent)), 'What happened, the oldest first; the last 200.')
  readonly events!: readonly RolloutEvent[];
}
