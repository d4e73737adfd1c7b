// Builders of commands for tests: only what a test is about has to be named.

import type { RequestId } from '../../src/model/answers/member-messages.ts';
import type { EditableKind, Kind } from '../../src/model/kinds.ts';
import type {
  Activate,
  Batch,
  Capture,
  Command,
  Delete,
  Discard,
  Idempotency,
  IfMatch,
  MoveRollout,
  Put,
  StartRollout,
} from '../../src/state/command.ts';
import { type Applied, ConfigState, type Round } from '../../src/state/config-state.ts';
import { type OperationDraft, OperationLines } from '../../src/state/operation-lines.ts';
import { SpecText } from '../../src/state/spec-text.ts';

export const startMs = Date.UTC(2026, 0, 1);

export interface Envelope {
  readonly time?: number;
  readonly requestId?: Partial<RequestId>;
  readonly idempotency?: Idempotency;
  readonly ifMatch?: IfMatch;
}

let lastSeq = 0;

function envelope({ time = startMs, requestId, idempotency, ifMatch }: Envelope) {
  lastSeq += 1;
  const id: RequestId = { origin: 'n1', incarnation: 7, boot: 1, seq: lastSeq, ackedBelow: 1, ...requestId };
  return {
    v: 1,
    requestId: id,
    time,
    ...(idempotency && { idempotency }),
    ...(ifMatch && { ifMatch }),
  } as const;
}

export const put = (
  kind: EditableKind,
  id: string,
  fields: object = {},
  more: Envelope & Partial<Pick<Put, 'mode'>> = {},
): Put => ({
  mode: 'create',
  ...more,
  ...envelope(more),
  op: 'put',
  kind,
  id,
  spec: new SpecText({ id, name: `${id} name`, ...fields }),
});

export const update = (kind: EditableKind, id: string, fields: object = {}, more: Envelope = {}): Put =>
  put(kind, id, fields, { ...more, mode: 'update' });

export const remove = (kind: Kind, id: string, more: Envelope = {}): Delete => ({
  ...envelope(more),
  op: 'delete',
  kind,
  id,
});

export const capture = (
  id: string,
  more: Envelope & Partial<Pick<Capture, 'name' | 'createdAt' | 'checkedAt' | 'holdsWrites' | 'values'>> = {},
): Capture => ({
  name: `${id} name`,
  createdAt: '2026-01-01T00:00:00.000Z',
  checkedAt: 0,
  values: {},
  ...more,
  ...envelope(more),
  op: 'capture',
  id,
});

export const activate = (id: string, more: Envelope = {}): Activate => ({ ...envelope(more), op: 'activate', id });

export const batch = (
  operations: readonly OperationDraft[],
  more: Envelope & Partial<Pick<Batch, 'id' | 'owner' | 'prune' | 'snapshot'>> = {},
): Batch => ({
  id: 'batch',
  ...more,
  ...envelope(more),
  op: 'batch',
  operations: OperationLines.of(operations),
});

export const discard = (more: Envelope & Partial<Pick<Discard, 'owner' | 'entities'>> = {}): Discard => ({
  ...more,
  ...envelope(more),
  op: 'discard',
  id: 'discard',
});

type Moves = Omit<MoveRollout, 'v' | 'requestId' | 'time' | 'op' | 'id'>;
type Starts = Omit<StartRollout, 'v' | 'requestId' | 'time' | 'op' | 'id'>;

export const rollout = (id: string, what: Moves | Starts): StartRollout | MoveRollout => ({
  ...what,
  ...envelope({}),
  op: 'rollout',
  id,
});

/** Applies commands one per round, at the next indexes. */
export function applyAll(state: ConfigState, ...commands: readonly Command[]): readonly Applied[] {
  return commands.flatMap((command) => applyRound(state, command).results);
}

/** Applies commands in one round and commits it. */
export function applyRound(state: ConfigState, ...commands: readonly Command[]): Round {
  const first = state.applied + 1;
  const entries = commands.map((command, at) => ({ index: first + at, command }));
  const round = state.prepare(entries, state.applied + commands.length);
  round.commit();
  return round;
}

/** Status of each command, applied one per round. */
export const statuses = (state: ConfigState, ...commands: readonly Command[]) =>
  applyAll(state, ...commands).map(({ result }) => result.status);
