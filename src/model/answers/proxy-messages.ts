// Messages of a proxy to its control plane (fleet.md §4), as they are sent: the configuration that it has installed, and
// counts of its traffic. What is read of them is bounded and complete: `fleet-messages.ts`.
import { amount, integer, limited, list, nullable, object, oneOf, open, text } from '../json-type.ts';
import { latencyBuckets, messageLimits } from '../message-limits.ts';
import type { Problem } from '../problem.ts';
import { Component, Optional, Required } from '../property.ts';

/** Integer that a double holds exactly. */
export const wholeNumber = limited(integer, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const variant = oneOf(['stable', 'candidate']);
const which = 'Which of two configurations.';

class ProblemText {
  @Required(text, 'JSON pointer, entities by id.')
  readonly pointer!: string;

  @Required(text, 'What is wrong, for a person.')
  readonly message!: string;
}

export const problemTexts = limited(list<Problem>(object(ProblemText)), { maxItems: messageLimits.problems });

export class ListenerReport {
  @Required(limited(text, { maxLength: messageLimits.id }), 'Id of the listener.')
  readonly id!: string;

  @Required(oneOf(['open', 'waiting', 'failed']), '`waiting`: tried again.')
  readonly state!: 'open' | 'waiting' | 'failed';

  @Optional(text, 'Why it is not open.')
  readonly reason?: string;
}

export const listenerReports = list(object(ListenerReport), { maxItems: messageLimits.listeners });

export const streamToken = limited(text, {
  maxLength: messageLimits.token,
  description: '`X-Sluice-Ack` of the stream.',
});
export const streamBoot = limited(text, {
  maxLength: messageLimits.boot,
  description: '`X-Sluice-Boot` of the request for it.',
});

/** Stream that a message belongs to. */
export class StreamAddress {
  @Required(streamToken)
  readonly token!: string;

  @Required(streamBoot)
  readonly boot!: string;
}

@Component('What a proxy has done with a configuration.', { as: 'Acknowledgement' })
export class SentAcknowledgement extends StreamAddress {
  @Required(wholeNumber, 'Id of the event.')
  readonly index!: number;

  @Required(
    limited(text, { maxLength: messageLimits.sha256 }),
    'Of the canonical JSON of the lists, hex; empty when they could not be read.',
  )
  readonly sha256!: string;

  @Required(variant, which)
  readonly of!: 'stable' | 'candidate';

  @Required(oneOf(['installed', 'refused']), 'Refused: the former one stays.')
  readonly state!: 'installed' | 'refused';

  @Required(amount, 'From its arrival to now, in milliseconds.')
  readonly tookMs!: number;

  @Optional(problemTexts, 'What is closed, or why it was refused.')
  readonly problems?: readonly Problem[];

  @Optional(listenerReports, 'The listeners of the configuration that is installed.')
  readonly listeners?: readonly ListenerReport[];
}

@Component('Answer to event `ask`.', { as: 'ProxyAnswer' })
export class SentAnswer extends StreamAddress {
  @Required(wholeNumber, 'Number of the question.')
  readonly id!: number;

  @Optional(
    nullable(open({ additionalProperties: true })),
    '`page` with recorded requests, or `refused` with the reason. Understood between versions of one program; what ' +
      'is malformed counts as no answer.',
  )
  readonly answer?: object | null;
}

/** Responses of mirrors that were compared with those of the requests themselves. */
export class MirrorCounts {
  @Required(wholeNumber, 'Compared.')
  readonly compared!: number;

  @Required(wholeNumber, 'Those of them that differ.')
  readonly mismatched!: number;
}

/** Counts of the requests that were served since the last report. */
export class SentWindow {
  @Required(variant, which)
  readonly of!: 'stable' | 'candidate';

  @Optional(nullable(text), 'Id of the rollout, of a candidate.')
  readonly rollout?: string | null;

  @Required(wholeNumber, 'Requests.')
  readonly requests!: number;

  @Required(wholeNumber, 'Answered with 5xx by an upstream.')
  readonly serverErrors!: number;

  @Required(wholeNumber, 'Answered with 4xx.')
  readonly clientErrors!: number;

  @Required(wholeNumber, 'Answered by the proxy itself because it could not do otherwise.')
  readonly proxyErrors!: number;

  @Optional(
    wholeNumber,
    'Those of `proxyErrors` of a status from 400 to 499, `no_route` for instance. A proxy of an earlier version does not tell.',
  )
  readonly refusals?: number;

  @Optional(
    list(wholeNumber, { maxItems: latencyBuckets, anyOf: [{ maxItems: 0 }, { minItems: latencyBuckets }] }),
    `Requests by duration in ${latencyBuckets} buckets, each 2^(1/4) wider, from 0.1 ms; or empty.`,
  )
  readonly latency?: readonly number[];

  @Optional(nullable(object(MirrorCounts)), 'Responses of mirrors that were compared; absent where none was.')
  readonly mirror?: MirrorCounts | null;
}

@Component('What a proxy has served since its last report.', { as: 'TrafficReport' })
export class SentReport extends StreamAddress {
  @Required(list(object(SentWindow), { maxItems: messageLimits.windows }), 'One entry per configuration that served.')
  readonly window!: readonly SentWindow[];

  @Optional(
    open({ additionalProperties: true }),
    'Traffic by route and destination: `routes` and `destinations` with pairs of id and counts, `hits` with the times ' +
      'of last requests. Understood between versions of one program.',
  )
  readonly traffic?: object;
}
