// Messages about leases (fleet.md §8): a proxy reports what it holds of the budgets of the cluster, and the leader
// answers with what it holds from then on. Amounts are tokens, fractions allowed.
import { isObject } from './json-object.ts';

/** One budget of a limit as a proxy holds it: that of one key. */
export interface LeaseLine {
  /** Key of the budget, the same in every proxy. */
  readonly key: string;
  /** Part of the burst that is held; the same part of the rate comes with it. */
  readonly share: number;
  /** Tokens in hand. */
  readonly level: number;
  /** Tokens that were given back, since the process began to hold this budget. */
  readonly back: number;
  /** Tokens that are lacking now. */
  readonly want: number;
  /** Tokens that requests asked for since the last report. */
  readonly used: number;
}

export interface LeaseLimit {
  /** Names the limit as it is configured: another rate, burst or key expression is another limit. */
  readonly id: string;
  readonly requestsPerSecond: number;
  readonly burst: number;
  readonly keys: readonly LeaseLine[];
}

export interface LeaseReport {
  /** Rises with each report of a process: one that comes late is passed over. */
  readonly seq: number;
  readonly limits: readonly LeaseLimit[];
}

/** States of a grant: more may come soon; none is left for now; the leader is new and moves nothing yet. */
export const grantStates = ['granted', 'again', 'dry', 'settling'] as const;

export interface LeaseGrant {
  readonly key: string;
  /** Part that is held from now on. A smaller one is in force once the next report confirms it. */
  readonly share: number;
  /** Tokens on top of those in hand. */
  readonly grant: number;
  /** Tokens that are left elsewhere in the cluster. */
  readonly left: number;
  readonly state: (typeof grantStates)[number];
  /** Milliseconds after which it is worth to ask again, where it is dry. */
  readonly waitMs: number;
}

export interface LeaseReply {
  /** Interval of reports, in milliseconds. */
  readonly paceMs: number;
  readonly limits: readonly { readonly id: string; readonly keys: readonly LeaseGrant[] }[];
}

/** Returns the answer of a leader; undefined for what is none. */
export function leaseReplyOf(value: unknown): LeaseReply | undefined {
  if (!isObject(value) || !isAmount(value.paceMs) || !Array.isArray(value.limits)) return undefined;
  return value.limits.every(isLimit) ? { paceMs: value.paceMs, limits: value.limits } : undefined;
}

const isLimit = (value: unknown): value is LeaseReply['limits'][number] =>
  isObject(value) && typeof value.id === 'string' && Array.isArray(value.keys) && value.keys.every(isGrant);

const isGrant = (value: unknown): value is LeaseGrant =>
  isObject(value) &&
  typeof value.key === 'string' &&
  [value.share, value.grant, value.left, value.waitMs].every(isAmount) &&
  grantStates.some((state) => state === value.state);

export const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;

/** Sends a report; undefined where no leader answers in time. Never rejects. */
export type ReportLeases = (report: LeaseReport) => Promise<LeaseReply | undefined>;

export const leaseLimits = { limits: 256, keys: 1_000, id: 64, key: 64 } as const;
