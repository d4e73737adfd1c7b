// Linearizability without search: every answer names its position in the log, so the log is the order, and it only
// has to be shown that this order explains every answer and respects real time. O(n log n).
import type { Operation } from './history.ts';

/** `log[i - 1]` is the operation that took effect at index i, or anything else for positions of no operation. */
export function checkRevisionOrder(history: readonly Operation[], log: readonly number[]): string[] {
  return [...checkEffects(history, log), ...checkRealTime(history, log)];
}

function checkEffects(history: readonly Operation[], log: readonly number[]): string[] {
  const problems: string[] = [];
  const effectOf = new Map<number, number>();
  log.forEach((op, at) => {
    if (effectOf.has(op) && op > 0) problems.push(`operation ${op} took effect twice`);
    effectOf.set(op, at + 1);
  });
  for (const { op, kind, outcome, index } of history) {
    if (kind !== 'write') continue;
    if (outcome === 'ok' && (index === undefined || log[index - 1] !== op))
      problems.push(`write ${op} was acknowledged at ${index}, where the log has ${log[(index ?? 0) - 1]}`);
    if (outcome === 'notApplied' && effectOf.has(op)) problems.push(`write ${op} was denied and took effect`);
  }
  return [...problems, ...checkReads(history, log)];
}

/** A read served at an index returns the newest write to its register up to there. */
function checkReads(history: readonly Operation[], log: readonly number[]): string[] {
  const problems: string[] = [];
  const registerOf = new Map(history.filter(({ kind }) => kind === 'write').map(({ op, register }) => [op, register]));
  const reads = history
    .filter(({ kind, outcome }) => kind === 'read' && outcome === 'ok')
    .sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  const registers = new Map<number, number>();
  let at = 0;
  for (const read of reads) {
    for (; at < (read.index ?? 0) && at < log.length; at += 1) {
      const register = registerOf.get(log[at]!);
      if (register !== undefined) registers.set(register, log[at]!);
    }
    const expected = registers.get(read.register) ?? 0;
    if (read.value !== expected) problems.push(`read ${read.op} at ${read.index} saw ${read.value}, not ${expected}`);
  }
  return problems;
}

/**
 * Checks real time: an operation that ended before another began has a smaller index (writes), or one that is not
 * larger (reads).
 */
function checkRealTime(history: readonly Operation[], log: readonly number[]): string[] {
  const problems: string[] = [];
  const positions = new Map(log.map((op, at) => [op, at + 1]));
  const placed = history.flatMap((operation) => {
    const index = operation.outcome === 'ok' ? operation.index : positions.get(operation.op);
    return index === undefined ? [] : [{ ...operation, index }];
  });
  const byStart = [...placed].sort((a, b) => a.invokedAt - b.invokedAt);
  const byEnd = placed
    .filter(({ outcome, returnedAt }) => outcome === 'ok' && returnedAt !== undefined)
    .sort((a, b) => a.returnedAt! - b.returnedAt!);
  let ended = 0;
  let highest = 0;
  let highestOp = 0;
  for (const operation of byStart) {
    for (; ended < byEnd.length && byEnd[ended]!.returnedAt! < operation.invokedAt; ended += 1) {
      if (byEnd[ended]!.index <= highest) continue;
      highest = byEnd[ended]!.index;
      highestOp = byEnd[ended]!.op;
    }
    const isTooEarly = operation.kind === 'write' ? operation.index <= highest : operation.index < highest;
    if (isTooEarly)
      problems.push(
        `${operation.kind} ${operation.op} at ${operation.index} began after ${highestOp} ended at ${highest}`,
      );
  }
  return problems;
}
