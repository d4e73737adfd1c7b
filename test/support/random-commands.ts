// Commands at random over few ids and names, so that they meet each other often.

import fc from 'fast-check';
import { type EditableKind, editableKinds } from '../../src/model/kinds.ts';
import { noShadow } from '../../src/model/shadow.ts';
import type { Command, IfMatch, RolloutCommand } from '../../src/state/command.ts';
import { type OperationDraft, OperationLines } from '../../src/state/operation-lines.ts';
import type { RolloutPlan } from '../../src/state/rollout.ts';
import { SpecText } from '../../src/state/spec-text.ts';
import { startMs } from './commands.ts';

const ids = fc.constantFrom('a', 'b', 'c', 'B');
const names = fc.constantFrom('one', 'two', 'three');
const kind: fc.Arbitrary<EditableKind> = fc.constantFrom(...editableKinds);
const ifMatch: fc.Arbitrary<IfMatch | undefined> = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant('*' as const) },
  { weight: 2, arbitrary: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 12 }) },
);
const owner = fc.option(fc.constantFrom('shop', 'pay'), { nil: undefined });
const labels = fc.option(fc.constantFrom({}, { env: 'test' }), { nil: undefined });
const marks = fc
  .tuple(owner, labels)
  .map(([of, marked]) => ({ ...(of !== undefined && { owner: of }), ...(marked !== undefined && { labels: marked }) }));
const text = fc.constantFrom('plain', '{{secret:value:a}}', '{{secret:env:E}}');

const put = fc.record({
  op: fc.constant('put' as const),
  kind,
  id: ids,
  mode: fc.constantFrom('create' as const, 'update' as const),
  name: names,
  marks,
  text,
  ifMatch,
});
const remove = fc.record({
  op: fc.constant('delete' as const),
  kind: fc.oneof(kind, fc.constant('snapshots' as const)),
  id: ids,
  ifMatch,
});
const capture = fc.record({
  op: fc.constant('capture' as const),
  id: ids,
  name: names,
  behind: fc.nat(2),
  withEnv: fc.boolean(),
});
const activate = fc.record({
  op: fc.constant('activate' as const),
  id: ids,
  ifMatch,
  confirmWithin: fc.option(fc.constantFrom(1_500, 4_000), { nil: undefined }),
  force: fc.boolean(),
});
const rollout = fc.record({
  op: fc.constant('rollout' as const),
  id: fc.constantFrom('r1', 'r2', 'r3'),
  action: fc.oneof(
    { weight: 3, arbitrary: fc.constant('start' as const) },
    fc.constantFrom('pause', 'resume', 'abort', 'promote', 'advance', 'fail', 'stall'),
  ),
  snapshotId: ids,
  finish: fc.boolean(),
  shadow: fc.constantFrom('none', 'first', 'alone'),
  behind: fc.nat(3),
});
const rollback = fc.record({ op: fc.constant('rollback' as const), id: ids });
const confirm = fc.record({ op: fc.constant('confirm' as const), id: ids });
const drain = fc.record({
  op: fc.constant('drain' as const),
  id: ids,
  endpoint: fc.constantFrom('h:1', 'h:2'),
  drained: fc.boolean(),
});
const cookieKey = fc.record({
  op: fc.constant('cookieKey' as const),
  id: ids,
  byte: fc.nat(255),
  isLate: fc.boolean(),
});
const apiKey = fc.record({
  op: fc.constant('apiKey' as const),
  id: ids,
  role: fc.constantFrom('admin' as const, 'viewer' as const),
  byte: fc.nat(255),
});
const revokeApiKey = fc.record({ op: fc.constant('revokeApiKey' as const), id: ids });
const revert = fc.record({ op: fc.constant('revert' as const), id: ids, behind: fc.nat(3) });

const operation: fc.Arbitrary<OperationDraft> = fc
  .record({
    op: fc.constantFrom('create' as const, 'update' as const, 'upsert' as const, 'delete' as const),
    kind,
    by: fc.constantFrom('id' as const, 'name' as const),
    id: ids,
    name: names,
    marks,
    text,
    ifMatch,
    missingOk: fc.boolean(),
  })
  .map(({ op, kind, by, id, name, marks, text, ifMatch, missingOk }) => ({
    op,
    kind,
    by,
    ...(by === 'name' && (op === 'update' || op === 'delete') ? {} : { id }),
    ...(op === 'delete' ? (by === 'name' ? { name } : {}) : { spec: { name, ...marks, value: text } }),
    ...(ifMatch !== undefined && { ifMatch }),
    ...(op === 'delete' && missingOk && { missingOk }),
  }));
const batch = fc.record({
  op: fc.constant('batch' as const),
  id: ids,
  operations: fc.array(operation, { maxLength: 6 }),
  owner,
  prune: seldom(3, fc.subarray([...editableKinds])),
  behindStaged: seldom(4, fc.nat(2)),
  snapshot: fc.option(
    fc.record({
      name: fc.oneof(names, fc.constant(undefined)),
      behind: fc.nat(3),
      withEnv: fc.boolean(),
      activate: fc.boolean(),
      onLive: fc.boolean(),
      behindLive: fc.nat(5),
      keep: seldom(4, fc.integer({ min: 1, max: 2 })),
    }),
    { nil: undefined },
  ),
});
const discard = fc.record({
  op: fc.constant('discard' as const),
  id: ids,
  choice: fc.oneof(
    fc.constant({}),
    fc.record({ owner: fc.constantFrom('shop', 'pay') }),
    fc.record({ entities: fc.array(fc.tuple(kind, ids), { maxLength: 4 }) }),
  ),
  behindStaged: seldom(4, fc.nat(2)),
});

/** Generates a value once in `times`, otherwise undefined. */
function seldom<T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const step = fc.record({
  draft: fc.oneof(
    { weight: 5, arbitrary: put },
    remove,
    { weight: 3, arbitrary: capture },
    { weight: 2, arbitrary: activate },
    { weight: 4, arbitrary: batch },
    discard,
    rollback,
    confirm,
    revert,
    { weight: 2, arbitrary: drain },
    { weight: 2, arbitrary: cookieKey },
    { weight: 2, arbitrary: apiKey },
    { weight: 1, arbitrary: revokeApiKey },
    { weight: 4, arbitrary: rollout },
  ),
  /** The command is a retry of the one so many before it. */
  retryOf: seldom(8, fc.integer({ min: 1, max: 4 })),
  idempotent: seldom(8, fc.record({ scope: fc.constantFrom('k', 'l'), bodyHash: fc.constantFrom('h', 'i') })),
  later: fc.constantFrom(0, 1, 1_000, 3_600_000, -5),
});

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Two snapshots, of which one is active: without them most of what is about activations would be refused. */
const prologue: readonly Step[] = [
  { op: 'capture', id: 'a', name: 'one', behind: 0, withEnv: false } as const,
  { op: 'capture', id: 'b', name: 'two', behind: 0, withEnv: false } as const,
  { op: 'activate', id: 'a', ifMatch: undefined, confirmWithin: undefined, force: false } as const,
].map((draft) => ({ draft, retryOf: undefined, idempotent: undefined, later: 0 }));

/** Generates so many batches one after the other. */
export const batches = (count: number): fc.Arbitrary<Step[]> =>
  fc
    .array(fc.record({ draft: batch, later: fc.constant(0) }), { minLength: count, maxLength: count, size: 'max' })
    .map((list) => [...prologue, ...list.map((each) => ({ ...each, retryOf: undefined, idempotent: undefined }))]);

const few = { kind: fc.constantFrom('routes' as const, 'groups' as const, 'secrets' as const), id: ids };
const write = fc
  .record({
    ...few,
    op: fc.constantFrom('upsert' as const, 'upsert' as const, 'delete' as const),
    marks,
    text,
    salt: fc.nat(3),
  })
  .map(({ op, kind, id, marks, text, salt }): OperationDraft => {
    if (op === 'delete') return { op, kind, by: 'id', id, missingOk: true };
    return { op, kind, by: 'id', id, spec: { name: `${id} ${Math.min(salt, 1)}`, ...marks, value: `${text}${salt}` } };
  });
const ofAnOwner = fc.record({
  op: fc.constant('batch' as const),
  id: ids,
  operations: fc.uniqueArray(write, { maxLength: 3, selector: ({ kind, id }) => `${kind} ${id}` }),
  owner,
  prune: seldom(3, fc.constant<EditableKind[]>([...editableKinds])),
  behindStaged: fc.constant(undefined),
  snapshot: fc.option(
    fc.record({
      name: fc.constant(undefined),
      behind: fc.constant(0),
      withEnv: fc.constant(true),
      activate: fc.constantFrom(true, true, false),
      onLive: fc.constantFrom(true, true, true, false),
      behindLive: fc.constant(1),
      keep: fc.constant(undefined),
    }),
    { freq: 3, nil: undefined },
  ),
});
const ofAPerson = fc.record({
  op: fc.constant('batch' as const),
  id: ids,
  operations: write.map((one) => [one]),
  owner: fc.constant(undefined),
  prune: fc.constant(undefined),
  behindStaged: fc.constant(undefined),
  snapshot: fc.constant(undefined),
});

/** Owners who publish on what is live, and persons who edit beside them and take edits back at times. */
export const ownersAtWork = (maxLength: number): fc.Arbitrary<Step[]> =>
  fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: ofAnOwner },
        { weight: 4, arbitrary: ofAPerson },
        { weight: 1, arbitrary: discard },
      ),
      { minLength: 1, maxLength, size: 'max' },
    )
    .map((list) => list.map((draft) => ({ draft, retryOf: undefined, idempotent: undefined, later: 0 })));

export const steps = (maxLength: number): fc.Arbitrary<Step[]> =>
  fc.array(step, { minLength: 1, maxLength, size: 'max' }).map((list) => [...prologue, ...list]);

/** State that a command is proposed for: last change of the configuration, and what is live. */
interface Seen {
  readonly changedAt: number;
  readonly active: { readonly index: number } | undefined;
  readonly cookieKeys?: { readonly index: number };
}

export function commandOf(
  { draft, idempotent, later }: Step,
  seq: number,
  { changedAt, active, cookieKeys }: Seen,
): Command {
  const envelope = {
    v: 1,
    requestId: { origin: 'n', incarnation: 1, boot: 1, seq, ackedBelow: Math.max(1, seq - 6) },
    time: startMs + seq * 1_000 + later,
    ...(idempotent && { idempotency: idempotent }),
  } as const;
  const match = 'ifMatch' in draft && draft.ifMatch !== undefined ? { ifMatch: draft.ifMatch } : {};
  const { id } = draft;
  switch (draft.op) {
    case 'put': {
      const { kind, mode, name, marks, text } = draft;
      const spec = new SpecText({ id, name, ...marks, value: text });
      return { ...envelope, ...match, op: 'put', kind, id, mode, spec };
    }
    case 'delete':
      return { ...envelope, ...match, op: 'delete', kind: draft.kind, id };
    case 'activate':
      return {
        ...envelope,
        ...match,
        op: 'activate',
        id,
        ...(draft.confirmWithin !== undefined && { confirmWithin: draft.confirmWithin }),
        ...(draft.force && { force: true as const }),
      };
    case 'rollout':
      return { ...envelope, op: 'rollout', id, ...rolloutOf(draft, seq) };
    case 'rollback':
    case 'confirm':
      return { ...envelope, op: draft.op, id };
    case 'drain':
      return { ...envelope, op: 'drain', id, endpoint: draft.endpoint, drained: draft.drained };
    case 'cookieKey': {
      const after = draft.isLate ? 0 : (cookieKeys?.index ?? 0);
      return { ...envelope, op: 'cookieKey', id, key: Buffer.alloc(32, draft.byte).toString('base64'), after };
    }
    case 'apiKey': {
      const digest = Buffer.alloc(32, draft.byte).toString('hex');
      return { ...envelope, op: 'apiKey', id, name: 'deploy', role: draft.role, digest, by: 'admin' };
    }
    case 'revokeApiKey':
      return { ...envelope, op: 'revokeApiKey', id };
    case 'revert':
      return { ...envelope, op: 'revert', id, activation: Math.max(0, seq - 1 - draft.behind) };
    case 'capture':
      return { ...envelope, op: 'capture', id, ...captureOf(draft, seq, changedAt) };
    case 'discard':
      return { ...envelope, op: 'discard', id, ...draft.choice, ...stagedMatch(draft.behindStaged, changedAt) };
    case 'batch': {
      const operations = OperationLines.of(draft.operations);
      const { snapshot, owner, prune, behindStaged } = draft;
      const writes = {
        operations,
        ...(owner !== undefined && { owner }),
        ...(prune !== undefined && owner !== undefined && { prune }),
        ...stagedMatch(behindStaged, changedAt),
      };
      if (snapshot === undefined) return { ...envelope, op: 'batch', id: `batch-${seq}`, ...writes };
      const { onLive, behindLive, keep, activate, name } = snapshot;
      const base = Math.max(0, (active?.index ?? 0) - (behindLive === 0 ? 1 : 0));
      const taken = {
        id: name === undefined ? `s-${seq}` : id,
        ...captureOf({ ...snapshot, name: name ?? `s-${seq}` }, seq, changedAt),
        activate,
        ...(owner !== undefined && { owner }),
        ...(onLive && { base }),
        ...(keep !== undefined && owner !== undefined && { keep }),
      };
      return { ...envelope, op: 'batch', id: `batch-${seq}`, ...writes, snapshot: taken };
    }
  }
}

/** Condition on the staged state: the present one, or one of a while ago. */
const stagedMatch = (behind: number | undefined, changedAt: number): { ifMatch?: readonly number[] } =>
  behind === undefined ? {} : { ifMatch: [Math.max(0, changedAt - (behind === 2 ? 1 : 0))] };

/** Two steps that serve no client. */
const shadowSteps: RolloutPlan['steps'] = [
  { shadow: true, holdMs: 1_000 },
  { shadow: true, holdMs: 0 },
];

/** Three steps, the last of which is all at once. */
export const plan: RolloutPlan = {
  steps: [
    { share: 10, holdMs: 1_000 },
    { labels: { zone: 'a' }, holdMs: 1_000 },
    { share: 100, holdMs: 0 },
  ],
  by: 'client',
  key: { clientIp: true },
  guards: ['true'],
  minRequests: 20,
  checkIntervalMs: 1_000,
  failures: 2,
  onFail: 'rollback',
  deadmanMs: 60_000,
  maxStepMs: 3_600_000,
};

const shadowPlans: Readonly<Record<string, RolloutPlan['steps']>> = {
  first: [...shadowSteps, ...plan.steps],
  alone: shadowSteps,
};

type DraftOf<C> = C extends unknown ? Omit<C, 'v' | 'requestId' | 'time' | 'op' | 'id'> : never;

function rolloutOf(
  {
    action,
    snapshotId,
    finish,
    shadow,
    behind,
  }: {
    action: string;
    snapshotId: string;
    finish: boolean;
    shadow: string;
    behind: number;
  },
  seq: number,
): DraftOf<RolloutCommand> {
  switch (action) {
    case 'start':
      return { action, snapshotId, plan: { ...plan, steps: shadowPlans[shadow] ?? plan.steps } };
    case 'pause':
    case 'resume':
    case 'abort':
      return { action };
    case 'promote':
      return { action, ...(finish && { finish: true as const }) };
    default: {
      const driven = action === 'advance' || action === 'stall' ? action : 'fail';
      const counts = { ...noShadow, requests: seq };
      return {
        ...{ action: driven, because: 'guard failed', epoch: Math.max(0, seq - 1 - behind) },
        ...(shadow !== 'none' && { shadow: counts }),
      };
    }
  }
}

interface Wanted {
  readonly name: string;
  readonly behind: number;
  readonly withEnv: boolean;
}

function captureOf({ name, behind, withEnv }: Wanted, seq: number, changedAt: number) {
  const values: Record<string, string> = withEnv ? { '{{secret:env:E}}': 'e' } : {};
  const createdAt = new Date(startMs + seq).toISOString();
  return { name, createdAt, checkedAt: Math.max(0, changedAt - (behind === 2 ? 1 : 0)), values };
}
