// Conditions of statuses: what the controller says, and whether it says something new.

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface StoredCondition extends Condition {
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

export const isTrue = (type: string, reason = type, message = ''): Condition => ({
  type,
  status: 'True',
  reason,
  message,
});

export const isFalse = (type: string, reason: string, message: string): Condition => ({
  type,
  status: 'False',
  reason,
  message,
});

export const holds = (conditions: readonly Condition[], type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === 'True');

/** Time of statuses, in whole seconds as Kubernetes writes it. */
export const stampOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '');

/**
 * Returns conditions as they are stored: of an observed generation, and since when they are what they are. The time of a
 * stored condition is kept while its status is the same.
 */
export function storedConditions(
  conditions: readonly Condition[],
  stored: readonly StoredCondition[] | undefined,
  observedGeneration: number,
  now: string,
): StoredCondition[] {
  return conditions.map((condition) => {
    const before = stored?.find(({ type }) => type === condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
    return { ...condition, observedGeneration, lastTransitionTime };
  });
}
