// Batches: many writes at one index, all of them or none, and a snapshot of what they leave behind (batch.md). Read and
// checked in time slices, so that ten thousand routes do not block the thread; a batch with a snapshot is checked against the state
// that this node sees, and again when that has moved before the batch is applied.
import { SluiceError } from '../../errors.ts';
import { describe, type Problem } from '../../model/problem.ts';
import { digestOf } from '../../snapshot/digest.ts';
import type { BatchSnapshot, Draft, Idempotency, Operations, Result } from '../../state/command.ts';
import type { Rehearsal, StoredSnapshot, WantedSnapshot } from '../../state/view.ts';
import { inSlices } from '../../util/time-slice.ts';
import { installedHeaders, installWaitMs } from '../activation-report.ts';
import { nodeProblems } from '../node-checks.ts';
import { ownerProblem } from '../owner-warnings.ts';
import { idempotencyIn } from '../preconditions.ts';
import { fieldValidationOf, flagOf } from '../query.ts';
import { type Answer, type ApiRequest, jsonArray, revisionHeader } from '../resource-answer.ts';
import type { ServiceParts } from '../service-parts.ts';
import { snapshotSummary } from '../snapshot-summary.ts';
import type { Validated } from '../snapshot-validator.ts';
import { unknownFieldWarnings } from '../unknown-fields.ts';
import { joined } from '../warnings.ts';
import { acceptedHeaders, goneSince } from '../write-outcome.ts';
import { changesBetween } from './changes.ts';
import { readBatch, type SentBatch, type SentSnapshot } from './sent-batch.ts';

type Parts = Omit<ServiceParts, 'converge'>;

type BatchDraft = Extract<Draft, { op: 'batch' }>;

const mostAttempts = 5;

export class BatchService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Answers 200 with the outcome of each operation. Rejects with INVALID, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED, CONFLICT of
   * the first operation that fails, which the body names; with TOO_LARGE, KEY_REUSED and what the log rejects with.
   */
  async run(request: ApiRequest): Promise<Answer> {
    const isDry = flagOf(request, 'dryRun');
    const override = flagOf(request, 'override');
    const validation = fieldValidationOf(request);
    const batch = await inSlices(readBatch(request, this.#parts.newId));
    await this.#checkOnNode(batch);
    const unknownFields = unknownFieldWarnings(batch.unknown, validation, firstOperation(batch.unknown));
    const answer = isDry ? await this.#dryRun(batch, override) : await this.#written(batch, request, override);
    const { Warning, ...headers } = answer.headers;
    const all = joined(unknownFields, Warning === undefined ? {} : { Warning: [Warning].flat() });
    return { ...answer, headers: { ...headers, ...all } };
  }

  /** Rejects with INVALID, naming every operation that this node's checks refuse. */
  async #checkOnNode({ written }: SentBatch): Promise<void> {
    const problems: Problem[] = [];
    let first: number | undefined;
    for (const { at, kind, spec } of written) {
      for (const { pointer, message } of await nodeProblems(this.#parts.node, kind, spec)) {
        first ??= at;
        problems.push({ pointer: `/operations/${at}/body${pointer}`, message });
      }
    }
    if (first !== undefined) throw new SluiceError('INVALID', describe(problems), { body: { operation: first } });
  }

  async #written(batch: SentBatch, request: ApiRequest, override: boolean): Promise<Answer> {
    const { reader, newId } = this.#parts;
    const idempotency = await inSlices(idempotencyIn(request));
    if (batch.heads.length === 0 && batch.snapshot === undefined) {
      await reader.barrier();
      // It writes nothing, so its key is not kept either; one that stands for another batch is refused all the same.
      const earlier = idempotency.idempotency && (await this.#earlier(idempotency.idempotency));
      return answered(reader.view.applied, [], undefined, [], earlier && acceptedHeaders(earlier));
    }
    const draft = { op: 'batch', id: newId(), operations: batch.operations, ...idempotency } as const;
    const { result, warnings } =
      batch.snapshot === undefined
        ? { result: await this.#once(draft), warnings: [] }
        : await this.#withSnapshot(draft, batch.snapshot);
    const accepted = acceptedHeaders(result);
    const results = await inSlices(resultsOf(batch, result));
    const owned = override ? [] : await inSlices(ownerProblems(batch, result.outcomes));
    if (batch.snapshot === undefined) return answered(result.index, results, undefined, owned, accepted);
    const snapshot = reader.view.snapshot(result.id);
    if (snapshot === undefined) throw goneSince(result);
    return await this.#captured({ result, snapshot, warnings, owned, activated: batch.snapshot.activate }, results);
  }

  async #captured(
    { result, snapshot, warnings, owned, activated }: BatchResult,
    results: readonly string[],
  ): Promise<Answer> {
    const { validator, installed, logger } = this.#parts;
    const found = [...owned, ...(warnings ?? (await validator.warningsOf(snapshot)))];
    const headers: Record<string, string | readonly string[]> = { ...acceptedHeaders(result) };
    if (activated) {
      const installation = await installed(result.index, installWaitMs);
      const { done, of } = installation;
      logger.info(
        { snapshot: snapshot.id, title: snapshot.name, index: result.index, done, of },
        'a snapshot is active',
      );
      Object.assign(headers, installedHeaders(installation));
    }
    const { view } = this.#parts.reader;
    const shown = activated ? { active: { snapshotId: snapshot.id, index: result.index } } : view;
    return answered(result.index, results, snapshotSummary(snapshot, shown), found, headers);
  }

  /** Proposes the batch unless it was answered before: a repetition of tens of megabytes stays out of the log. */
  async #once(draft: BatchDraft): Promise<Result> {
    const { reader, log } = this.#parts;
    if (draft.idempotency === undefined) return await log.propose(draft);
    await reader.barrier();
    return (await this.#earlier(draft.idempotency)) ?? (await log.propose(draft));
  }

  /** Proposes the batch with its snapshot; `warnings` is absent for a repetition. */
  async #withSnapshot(
    draft: BatchDraft,
    wanted: SentSnapshot,
  ): Promise<{ result: Result; warnings?: readonly Problem[] }> {
    const { log, clock, logger, reader } = this.#parts;
    const createdAt = new Date(clock.nowMs()).toISOString();
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      await reader.barrier();
      const earlier = draft.idempotency && this.#earlier(draft.idempotency);
      if (earlier !== undefined) return { result: await earlier };
      const validated = await this.#validate(draft, wanted);
      const snapshot: BatchSnapshot = {
        id: draft.id,
        name: wanted.name,
        createdAt,
        checkedAt: validated.checkedAt,
        values: validated.values,
        activate: wanted.activate,
        ...(attempt > 1 && { holdsWrites: true }),
        ...(wanted.activate && { ...wanted.audit, ...validated.sha256 }),
      };
      const result = await log.propose({ ...draft, snapshot });
      if (result.status !== 'moved') return { result, warnings: validated.warnings };
      logger.info({ snapshot: wanted.name, attempt }, 'the configuration changed while a batch was checked');
    }
    throw configurationIsChanging();
  }

  /** A repeated request is answered as the first one was, although the configuration may no longer pass the checks. */
  #earlier(idempotency: Idempotency): Promise<Result> | undefined {
    const { reader, log } = this.#parts;
    const result = reader.view.answered(idempotency);
    return result && log.appliedAtLeast(result.index, installWaitMs).then(() => result);
  }

  /** Checks the state behind the batch. Skips the checks of a batch that apply will refuse with its reason. */
  async #validate({ operations }: BatchDraft, { strict }: SentSnapshot): Promise<Validation> {
    const { after, verdict } = await this.#rehearse(operations);
    if (verdict.status !== 200) return { checkedAt: after.changedAt, values: {}, warnings: [] };
    const { problems, ...validated } = await this.#parts.validator.report(after, { strict });
    if (problems.length > 0) throw new SluiceError('INVALID', describe(underSnapshot(problems)));
    const sha256 = { sha256: await inSlices(digestOf({ entities: after.entities, values: validated.resolved })) };
    return { ...validated, sha256 };
  }

  async #rehearse(operations: Operations, snapshot?: WantedSnapshot): Promise<Rehearsal> {
    const { view } = this.#parts.reader;
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      const rehearsal = await inSlices(view.rehearse(operations, snapshot));
      // Other writes may be applied during the rehearsal, which must see one state.
      if (view.changedAt === rehearsal.after.changedAt) return rehearsal;
    }
    throw configurationIsChanging();
  }

  /** Runs a dry run: everything but the commit, compile check included. */
  async #dryRun(batch: SentBatch, override: boolean): Promise<Answer> {
    const { reader, validator, newId } = this.#parts;
    await reader.barrier();
    const wanted = batch.snapshot && { ...batch.snapshot, id: newId() };
    const { verdict, after, refused } = await this.#rehearse(batch.operations, wanted);
    const headers = acceptedHeaders({ ...verdict, index: reader.view.applied, kind: 'snapshots', id: '' });
    const results = await inSlices(this.#foreseen(batch, verdict.outcomes ?? []));
    const owned = override ? [] : await inSlices(ownerProblems(batch, verdict.outcomes));
    const { problems, warnings } = await validator.report(after, { strict: batch.snapshot?.strict ?? false });
    // The real one too says first what is wrong with the configuration.
    if (refused !== undefined && problems.length === 0) {
      acceptedHeaders({ ...refused, index: reader.view.applied, kind: 'snapshots', id: '' });
    }
    const found = `"problems":${JSON.stringify(underSnapshot(problems))},"warnings":${JSON.stringify([...owned, ...warnings])}`;
    const body = `{"results":${jsonArray(results)},${found}}`;
    return { status: 200, headers, body };
  }

  *#foreseen({ operations, heads }: SentBatch, outcomes: Rehearsal['verdict']['outcomes']): Generator<void, string[]> {
    const { view } = this.#parts.reader;
    const results: string[] = [];
    for (const operation of operations) {
      const head = heads[results.length];
      const [id, , changed] = outcomes?.[results.length] ?? ['', 0, 0];
      if (head === undefined || operation === undefined) break;
      const { op, kind } = head;
      const before = view.get(kind, id)?.spec;
      const action = changed === 0 ? 'none' : op === 'delete' ? 'delete' : before === undefined ? 'create' : 'update';
      const changes = action === 'update' ? changesBetween(before, { id, ...operation.spec }) : [];
      results.push(JSON.stringify({ action, kind, id, changes }));
      yield;
    }
    return results;
  }
}

function* ownerProblems({ heads }: SentBatch, outcomes: Result['outcomes'] = []): Generator<void, Problem[]> {
  const problems: Problem[] = [];
  for (const [at, [id, , , owner]] of outcomes.entries()) {
    const kind = heads[at]?.kind;
    if (owner !== undefined && kind !== undefined) problems.push(ownerProblem(kind, id, owner));
    yield;
  }
  return problems;
}

/** Returns the first operation that a pointer names; none for fields beside the operations. */
function firstOperation(pointers: readonly string[]): { readonly operation?: number } {
  for (const pointer of pointers) {
    const [, at] = /^\/operations\/(\d+)(?:\/|$)/.exec(pointer) ?? [];
    if (at !== undefined) return { operation: Number(at) };
  }
  return {};
}

type Validation = Pick<Validated, 'checkedAt' | 'values' | 'warnings'> & {
  readonly sha256?: { readonly sha256: string };
};

interface BatchResult {
  readonly result: Result;
  readonly snapshot: StoredSnapshot;
  readonly warnings: readonly Problem[] | undefined;
  /** Warnings about changes of what another owner maintains. */
  readonly owned: readonly Problem[];
  readonly activated: boolean;
}

const configurationIsChanging = (): SluiceError => new SluiceError('UNAVAILABLE', 'configuration is changing');

const underSnapshot = (problems: readonly Problem[]): Problem[] =>
  problems.map(({ pointer, message }) => ({ pointer: `/snapshot${pointer}`, message }));

/** A replay comes with the same body, so the heads of this one are those of the first. */
function* resultsOf({ heads }: SentBatch, { outcomes = [] }: Result): Generator<void, string[]> {
  const results: string[] = [];
  for (const [at, { op, kind }] of heads.entries()) {
    const [id, revision, changed] = outcomes[at] ?? ['', 0, 0];
    const etag = revision === 0 ? null : `"${revision}"`;
    results.push(JSON.stringify({ op, kind, id, etag, changed: changed === 1 }));
    yield;
  }
  return results;
}

function answered(
  index: number,
  results: readonly string[],
  summary: string | undefined,
  warnings: readonly Problem[],
  headers: Answer['headers'] = revisionHeader(index),
): Answer {
  const snapshot = summary === undefined ? '' : `,"snapshot":${summary}`;
  const body = `{"index":${index},"results":${jsonArray(results)}${snapshot},"warnings":${JSON.stringify(warnings)}}`;
  return { status: 200, headers, body };
}
