// Copy of a ledger of leases, from a leader that was followed by another and lives (fleet.md §8).
import { isObject } from '../../model/json-object.ts';
import { isAmount } from '../../model/lease-messages.ts';
import type { BucketRate } from '../../model/limit-rates.ts';

interface PartCopy {
  readonly holder: string;
  readonly share: number;
  readonly level: number;
  readonly back: number;
}

export interface BudgetCopy {
  readonly key: string;
  /** Tokens of the leader. */
  readonly pool: number;
  readonly parts: readonly PartCopy[];
}

interface LimitCopy extends BucketRate {
  readonly id: string;
  readonly budgets: readonly BudgetCopy[];
}

export interface LedgerCopy {
  readonly limits: readonly LimitCopy[];
}

/** Members trust each other's copies; only their shape is checked. Undefined for what is none. */
export function ledgerCopyOf(value: unknown): LedgerCopy | undefined {
  if (!isObject(value) || !Array.isArray(value.limits)) return undefined;
  return value.limits.every(isLimit) ? { limits: value.limits } : undefined;
}

const isLimit = (value: unknown): value is LimitCopy =>
  isObject(value) &&
  typeof value.id === 'string' &&
  [value.requestsPerSecond, value.burst].every((each) => isAmount(each) && each > 0) &&
  Array.isArray(value.budgets) &&
  value.budgets.every(isBudget);

const isBudget = (value: unknown): value is BudgetCopy =>
  isObject(value) &&
  typeof value.key === 'string' &&
  isAmount(value.pool) &&
  Array.isArray(value.parts) &&
  value.parts.every(isPart);

const isPart = (value: unknown): value is PartCopy =>
  isObject(value) && typeof value.holder === 'string' && [value.share, value.level, value.back].every(isAmount);
