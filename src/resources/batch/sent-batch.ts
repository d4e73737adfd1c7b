// Body of a batch as the log will carry it, or all of its problems.
import { SluiceError } from '../../errors.ts';
import { BatchSnapshotRequest } from '../../model/activation-request.ts';
import { type BatchLimits, batchLimits } from '../../model/batch-limits.ts';
import { isObject } from '../../model/json-object.ts';
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import { describe, type Problem, problemsMax } from '../../model/problem.ts';
import { type Severity, severities } from '../../model/severity.ts';
import { parseBody } from '../../model/validation.ts';
import type { AuditInfo, BatchOperation, Operations, Spec } from '../../state/command.ts';
import { OperationLines, operationLine } from '../../state/operation-lines.ts';
import { OperationPacker } from '../../state/packed-operations.ts';
import { type ActivationWait, waitOf } from '../activation-wait.ts';
import { callerOf } from '../audit-info.ts';
import { type Caller, seesSecrets } from '../caller.ts';
import { objectIn } from '../json-body.ts';
import type { ApiRequest } from '../resource-answer.ts';
import { type SplitBody, splitBody } from './batch-body.ts';
import { operationBytesMax, readOperation } from './sent-operation.ts';

/** Limit of recorded unknown fields; a few of them are named. */
const unknownMax = 1_000;

export interface SentBatch {
  readonly operations: Operations;
  /** Operation and kind of each entry. */
  readonly heads: readonly { readonly op: BatchOperation['op']; readonly kind: EditableKind }[];
  /** Bodies that need checks of the node beside those of their class, and their positions in the batch. */
  readonly written: readonly { readonly at: number; readonly kind: EditableKind; readonly spec: Spec }[];
  readonly snapshot: SentSnapshot | undefined;
  /** Owner in whose name it writes. */
  readonly owner: string | undefined;
  /** Kinds to prune. */
  readonly prune: readonly EditableKind[] | undefined;
  readonly unknown: readonly string[];
}

export interface SentSnapshot {
  readonly name: string;
  readonly activate: boolean;
  readonly strict: boolean;
  readonly failOn: Severity | undefined;
  readonly audit: AuditInfo;
  /** True: the snapshot holds what is live and the operations, not all that is staged. */
  readonly isOnLive: boolean;
  readonly wait: ActivationWait | undefined;
  readonly keep: number | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/**
 * Reads a batch, yielding between operations and within long ones. Throws INVALID with every problem of every operation, FORBIDDEN, TOO_LARGE,
 * TOO_MANY_KEYS.
 */
export function* readBatch(request: ApiRequest, newId: () => string, limits: BatchLimits): Generator<void, SentBatch> {
  const body = yield* splitBody(request.body, limits.operations, operationBytesMax);
  const { operations: _, ...fields } = yield* objectIn(body.head);
  const { snapshot, owner: sentOwner, prune: sentPrune, ...strange } = fields;
  const problems = new BatchProblems();
  if (body.operations === undefined) problems.add([{ pointer: '/operations', message: 'must be a list' }]);
  const unknown = Object.keys(strange).map((name) => `/${name}`);
  const lines = isLarge(request, body.operations) ? new OperationPacker() : new OperationLineList();
  const heads: SentBatch['heads'][number][] = [];
  const written: SentBatch['written'][number][] = [];
  let forbidden: number | undefined;
  for (const [at, bytes] of (body.operations ?? []).entries()) {
    const sent = yield* readOperation(bytes, at, newId);
    problems.add(sent.problems, at);
    unknown.push(...sent.unknown.slice(0, unknownMax - unknown.length));
    if (sent.readsNode && !seesSecrets(request.caller)) forbidden ??= at;
    if (sent.operation !== undefined) {
      lines.add(Buffer.from(operationLine(sent.operation)));
      const { op, kind, spec } = sent.operation;
      heads.push({ op, kind });
      // Paths of access logs and of stored bodies belong to a node.
      if (spec !== undefined && (kind === 'middlewares' || sent.readsNode))
        written.push({ at, kind, spec: spec.fields });
    }
    yield;
  }
  const wanted = readSnapshot(snapshot, request.caller, problems, unknown);
  const owner = readOwner(sentOwner, problems);
  const prune = readPrune(sentPrune, heads, problems);
  if (owner === undefined && prune !== undefined) problems.add([needsOwner('/prune')]);
  if (owner === undefined && wanted?.keep !== undefined) problems.add([needsOwner('/snapshot/keep')]);
  problems.refuse();
  if (forbidden !== undefined) {
    const error = `/operations/${forbidden}/body: role ${request.caller.role} may not write env or file references`;
    throw new SluiceError('FORBIDDEN', error, { body: { operation: forbidden } });
  }
  return {
    operations: lines.finish(),
    heads,
    written,
    snapshot: wanted,
    owner,
    prune,
    unknown,
  };
}

/** Returns whether the usual path would not take it. Only then it is packed: older programs know no such batches. */
const isLarge = ({ body }: ApiRequest, operations: SplitBody['operations'] = []): boolean =>
  operations.length > batchLimits.operations || body.length > batchLimits.bytes;

class OperationLineList {
  readonly #lines: Buffer[] = [];

  add(line: Buffer): void {
    this.#lines.push(line);
  }

  finish(): OperationLines {
    return new OperationLines(this.#lines.length, Buffer.concat(this.#lines));
  }
}

class BatchProblems {
  readonly #problems: Problem[] = [];
  #operation: number | undefined;

  add(problems: readonly Problem[], operation?: number): void {
    if (problems.length > 0) this.#operation ??= operation;
    this.#problems.push(...problems.slice(0, problemsMax - this.#problems.length));
  }

  refuse(): void {
    if (this.#problems.length === 0) return;
    const operation = this.#operation;
    throw new SluiceError('INVALID', describe(this.#problems), operation === undefined ? {} : { body: { operation } });
  }
}

const needsOwner = (pointer: string): Problem => ({ pointer, message: 'needs an owner beside the operations' });

function readOwner(sent: unknown, found: BatchProblems): string | undefined {
  if (sent === undefined || sent === null || sent === '') return undefined;
  if (typeof sent === 'string') return sent;
  found.add([{ pointer: '/owner', message: 'must be a string' }]);
  return undefined;
}

/** True stands for the kinds that the operations name. */
function readPrune(
  sent: unknown,
  heads: SentBatch['heads'],
  found: BatchProblems,
): readonly EditableKind[] | undefined {
  if (sent === undefined || sent === null || sent === false) return undefined;
  if (sent === true) return editableKinds.filter((kind) => heads.some((head) => head.kind === kind));
  if (Array.isArray(sent) && sent.every((each) => editableKinds.some((kind) => kind === each))) {
    return editableKinds.filter((kind) => sent.includes(kind));
  }
  found.add([{ pointer: '/prune', message: `must be true, or a list of ${editableKinds.join(', ')}` }]);
  return undefined;
}

function readSnapshot(
  sent: unknown,
  caller: Caller,
  found: BatchProblems,
  unknown: string[],
): SentSnapshot | undefined {
  if (sent === undefined || sent === null) return undefined;
  if (!isObject(sent)) {
    found.add([{ pointer: '/snapshot', message: 'must be a JSON object' }]);
    return undefined;
  }
  const { entity, problems, unknown: strange } = parseBody(BatchSnapshotRequest, sent);
  unknown.push(...strange.map((pointer) => `/snapshot${pointer}`));
  found.add(problems.map(({ pointer, message }) => ({ pointer: `/snapshot${pointer}`, message })));
  // An empty one would hold nothing back (contract.md §3.4), unlike other empty texts, which mean the default.
  if (sent.failOn === '')
    found.add([{ pointer: '/snapshot/failOn', message: `must be one of ${severities.join(', ')}` }]);
  const { name, activate, strict, failOn, comment, base, wait, timeout, keep, labels } = entity;
  return {
    isOnLive: base === 'active',
    // Texts that the class has checked; where it found faults the batch is refused.
    wait: problems.length > 0 ? undefined : waitOf(textOr(wait), textOr(timeout)),
    keep: typeof keep === 'number' ? keep : undefined,
    labels: isObject(labels) ? (labels as SentSnapshot['labels']) : undefined,
    audit: { ...callerOf(caller), ...(typeof comment === 'string' && { comment }) },
    name: String(name),
    activate: activate === true,
    strict: strict === true,
    failOn: severities.find((each) => each === failOn),
  };
}

const textOr = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
