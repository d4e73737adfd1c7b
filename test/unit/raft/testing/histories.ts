// Histories made by hand. Times are whole numbers; registers hold the number of the operation that wrote them.
import type { Operation } from '../../../../raft/testing/history/history.ts';

/** Answers to clients, and the content of the log: `log[0]` is the operation at index 1, 0 is no operation. */
export interface History {
  readonly operations: readonly Operation[];
  readonly log: readonly number[];
}

type Extra = Partial<Operation>;

/** Acknowledged at `index`. */
export function wrote(op: number, span: readonly [number, number], index: number, extra: Extra = {}): Operation {
  const [invokedAt, returnedAt] = span;
  return { op, register: 1, kind: 'write', invokedAt, returnedAt, outcome: 'ok', index, value: undefined, ...extra };
}

/** Operation whose outcome was reported as unknown. */
function lost(op: number, span: readonly [number, number], extra: Extra = {}): Operation {
  return { ...wrote(op, span, 0), outcome: 'unknown', index: undefined, ...extra };
}

/** Told that it certainly did not happen. */
function denied(op: number, span: readonly [number, number]): Operation {
  return { ...wrote(op, span, 0), outcome: 'notApplied', index: undefined };
}

function saw(op: number, span: readonly [number, number], index: number, value: number, extra: Extra = {}): Operation {
  return { ...wrote(op, span, index), kind: 'read', value, ...extra };
}

/** Nothing is wrong with these. */
export const good: Readonly<Record<string, History>> = {
  'nothing at all': { operations: [], log: [] },
  'one write and a later read of it': { operations: [wrote(1, [0, 1], 1), saw(2, [2, 3], 1, 1)], log: [1] },
  'a read of a register never written': { operations: [saw(1, [0, 1], 0, 0)], log: [] },
  'a read beside a write that sees the old value': {
    operations: [wrote(1, [0, 9], 1), saw(2, [3, 4], 0, 0)],
    log: [1],
  },
  'a read beside a write that sees the new value': {
    operations: [wrote(1, [0, 9], 1), saw(2, [3, 4], 1, 1)],
    log: [1],
  },
  'writes that overlap in either order': {
    operations: [wrote(1, [0, 9], 2), wrote(2, [1, 8], 1), saw(3, [10, 11], 2, 1)],
    log: [2, 1],
  },
  'an unknown write that took effect late': {
    operations: [lost(1, [0, 1]), saw(2, [2, 3], 0, 0), saw(3, [8, 9], 1, 1)],
    log: [1],
  },
  'an unknown write that never took effect': { operations: [lost(1, [0, 1]), saw(2, [2, 3], 0, 0)], log: [] },
  'a denied write that is nowhere': { operations: [denied(1, [0, 1]), saw(2, [2, 3], 0, 0)], log: [] },
  'two registers that know nothing of each other': {
    operations: [wrote(1, [0, 1], 1), saw(2, [2, 3], 1, 0, { register: 2 })],
    log: [1],
  },
};

/** Histories that are wrong by the clients' view alone: both checkers must report them. */
export const visiblyBad: Readonly<Record<string, History>> = {
  'a stale read': { operations: [wrote(1, [0, 1], 1), saw(2, [2, 3], 0, 0)], log: [1] },
  'a stale read of an overwritten value': {
    operations: [wrote(1, [0, 1], 1), wrote(2, [2, 3], 2), saw(3, [4, 5], 1, 1)],
    log: [1, 2],
  },
  'a lost update': { operations: [wrote(1, [0, 1], 1), wrote(2, [2, 3], 2), saw(3, [4, 5], 2, 1)], log: [1, 1] },
  'an acknowledged write that is nowhere': { operations: [wrote(1, [0, 1], 1), saw(2, [2, 3], 1, 0)], log: [0] },
  'a read of the future': { operations: [saw(1, [0, 1], 1, 2), wrote(2, [2, 3], 1)], log: [2] },
  'a read of what nobody wrote': { operations: [saw(1, [0, 1], 1, 77)], log: [0] },
  'a read of a denied write': { operations: [denied(1, [0, 1]), saw(2, [2, 3], 1, 1)], log: [1] },
  'time travel after a fail-over': {
    operations: [wrote(1, [0, 1], 1), wrote(2, [2, 3], 2), saw(3, [4, 5], 2, 2), saw(4, [6, 7], 1, 1)],
    log: [1, 2],
  },
  'two reads that see two writes in opposite order': {
    operations: [wrote(1, [0, 9], 1), wrote(2, [0, 9], 2), saw(3, [10, 11], 2, 2), saw(4, [12, 13], 2, 1)],
    log: [1, 2],
  },
  'a write that is undone': {
    operations: [wrote(1, [0, 1], 1), saw(2, [2, 3], 1, 1), saw(3, [4, 5], 1, 0)],
    log: [1],
  },
  'a write of another register': {
    operations: [wrote(1, [0, 1], 1), saw(2, [2, 3], 1, 1, { register: 2 })],
    log: [1],
  },
  'an unknown write that comes and goes': {
    operations: [lost(1, [0, 1]), saw(2, [2, 3], 1, 1), saw(3, [4, 5], 1, 0)],
    log: [1],
  },
  'an unknown write that takes effect before it began': {
    operations: [saw(1, [0, 1], 1, 2), lost(2, [5, 6])],
    log: [2],
  },
  'writes in the wrong order of time': {
    operations: [wrote(1, [0, 1], 2), wrote(2, [2, 3], 1), saw(3, [4, 5], 2, 1)],
    log: [2, 1],
  },
};

/** Wrong only by the log: clients may have seen nothing of it yet. */
export const secretlyBad: Readonly<Record<string, History>> = {
  'a write that took effect twice': { operations: [wrote(1, [0, 1], 1)], log: [1, 1] },
  'an unknown write that took effect twice': { operations: [lost(1, [0, 1])], log: [1, 0, 1] },
  'a denied write that took effect': { operations: [denied(1, [0, 1])], log: [1] },
  'a write acknowledged at the place of another': {
    operations: [wrote(1, [0, 9], 1), wrote(2, [0, 9], 2)],
    log: [2, 1],
  },
  'a write acknowledged beyond the log': { operations: [wrote(1, [0, 1], 5)], log: [1] },
  'a write acknowledged without a place': { operations: [wrote(1, [0, 1], 1, { index: undefined })], log: [1] },
  'a later write placed before an earlier one': {
    operations: [wrote(1, [0, 1], 2), wrote(2, [2, 3], 1)],
    log: [2, 1],
  },
  'an unknown write placed before what had ended when it began': {
    operations: [wrote(1, [0, 1], 2), lost(2, [5, 6])],
    log: [2, 1],
  },
  'a read served below what had ended, though its own register did not change': {
    operations: [wrote(1, [0, 1], 1), saw(2, [2, 3], 0, 0, { register: 2 })],
    log: [1],
  },
};
