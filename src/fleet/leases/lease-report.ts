// Report of a proxy about its leases, read and bounded (fleet.md §8).

import { SluiceError } from '../../errors.ts';
import type { LeaseLimit, LeaseLine, LeaseMessage, LeaseReport } from '../../model/answers/lease-answers.ts';
import { isObject } from '../../model/json-object.ts';
import { leaseLimits } from '../../model/lease-limits.ts';
import { addressOf, amount, list, type MessagePart, text, uint } from '../peer-messages.ts';

type Json = Readonly<Record<string, unknown>>;

/** Throws INVALID. */
export function leaseMessageOf(json: Json): LeaseMessage {
  return { ...addressOf({ json, pointer: '' }), ...leaseReportOf(json) };
}

/** Throws INVALID. */
export function leaseReportOf(json: unknown): LeaseReport {
  if (!isObject(json)) throw new SluiceError('INVALID', 'a report of leases must be an object');
  const body = { json, pointer: '' };
  return { seq: uint(body, 'seq'), limits: list(body, 'limits', leaseLimits.limits).map(limitOf) };
}

/** JSON pointers of fields that a report of leases does not have. */
export const unknownInLeases = (json: Json): string[] =>
  Object.keys(json)
    .filter((name) => !['token', 'boot', 'seq', 'limits'].includes(name))
    .map((name) => `/${name}`);

const limitOf = (each: MessagePart): LeaseLimit => ({
  id: text(each, 'id', leaseLimits.id),
  requestsPerSecond: positive(each, 'requestsPerSecond'),
  burst: positive(each, 'burst'),
  keys: list(each, 'keys', leaseLimits.keys).map(lineOf),
});

const lineOf = (each: MessagePart): LeaseLine => ({
  key: text(each, 'key', leaseLimits.key),
  share: amount(each, 'share'),
  level: amount(each, 'level'),
  back: amount(each, 'back'),
  want: amount(each, 'want'),
  used: amount(each, 'used'),
});

function positive(at: MessagePart, name: string): number {
  const value = amount(at, name);
  if (value > 0) return value;
  throw new SluiceError('INVALID', `${at.pointer}/${name} must be above 0`);
}
