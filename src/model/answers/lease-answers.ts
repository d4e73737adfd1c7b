// Messages about leases (fleet.md §8): a proxy reports its parts of the budgets of rate limits that the cluster shares, and
// the leader answers with those that it holds from then on. Amounts are tokens, fractions allowed.
import { amount, count, limited, list, number, object, oneOf, text } from '../json-type.ts';
import { grantStates, leaseLimits } from '../lease-limits.ts';
import { Component, Required } from '../property.ts';
import { streamBoot, streamToken } from './proxy-messages.ts';

const positive = limited(number, { minimum: 0, exclusiveMinimum: true });
const limitId = limited(text, { maxLength: leaseLimits.id });
const key = limited(text, { maxLength: leaseLimits.key });

/** One budget of a limit as a proxy holds it: that of one key. */
export class LeaseLine {
  /** The same in every proxy. */
  @Required(key, 'Key of the budget.')
  readonly key!: string;

  @Required(amount, 'Part of the burst that is held; the same part of the rate comes with it.')
  readonly share!: number;

  @Required(amount, 'Tokens in hand.')
  readonly level!: number;

  @Required(amount, 'Tokens given back since the process began to hold it.')
  readonly back!: number;

  @Required(amount, 'Tokens that are lacking.')
  readonly want!: number;

  @Required(amount, 'Tokens that requests asked for since the last report.')
  readonly used!: number;
}

export class LeaseLimit {
  /** Another rate, burst or key expression is another limit. */
  @Required(limitId, 'Names the limit as it is configured.')
  readonly id!: string;

  @Required(positive, 'Rate of the limit.')
  readonly requestsPerSecond!: number;

  @Required(positive, 'Size of a bucket of the limit.')
  readonly burst!: number;

  @Required(list(object(LeaseLine), { maxItems: leaseLimits.keys }), 'One entry per key.')
  readonly keys!: readonly LeaseLine[];
}

export class LeaseReport {
  /** A report that comes late is passed over. */
  @Required(count, 'Rises with each report of a process.')
  readonly seq!: number;

  @Required(list(object(LeaseLimit), { maxItems: leaseLimits.limits }), 'Limits of which it holds parts.')
  readonly limits!: readonly LeaseLimit[];
}

@Component('Parts that a proxy holds of the budgets of rate limits. Amounts are tokens.', { as: 'LeaseReport' })
export class LeaseMessage extends LeaseReport {
  @Required(streamToken)
  readonly token!: string;

  @Required(streamBoot)
  readonly boot!: string;
}

export class LeaseGrant {
  @Required(key, 'Key of the budget.')
  readonly key!: string;

  /** A smaller one is in force once the next report confirms it. */
  @Required(amount, 'Part of the burst that is held from now on.')
  readonly share!: number;

  @Required(amount, 'Tokens on top of those in hand.')
  readonly grant!: number;

  @Required(amount, 'Tokens that are left elsewhere in the cluster.')
  readonly left!: number;

  @Required(oneOf(grantStates), 'Granted; more may come soon; none is left; the leader is new and moves nothing yet.')
  readonly state!: (typeof grantStates)[number];

  @Required(amount, 'Milliseconds after which it is worth to ask again, where none is left.')
  readonly waitMs!: number;
}

export class LimitGrants {
  @Required(limitId, 'Names the limit as it is configured.')
  readonly id!: string;

  @Required(list(object(LeaseGrant)), 'The keys of the report.')
  readonly keys!: readonly LeaseGrant[];
}

@Component('Parts that the proxy holds from now on.')
export class LeaseReply {
  @Required(amount, 'Interval of reports, in milliseconds.')
  readonly paceMs!: number;

  @Required(list(object(LimitGrants)), 'The limits of the report.')
  readonly limits!: readonly LimitGrants[];
}
