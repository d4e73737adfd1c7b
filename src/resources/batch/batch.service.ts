// Batches: many writes at one index, all of them or none, and a snapshot of what they leave behind (batch.md). Read and
// checked in time slices, so that ten thousand routes do not block the thread; a batch with a snapshot is checked against the state
// that this node sees, and again when that has moved before the batch is applied.
import { SluiceError } from '../../errors.ts';
import { type BatchLimits, batchLimits, largeBatchLimits } from '../../model/batch-limits.ts';
import { differenceOf } from '../../model/entity-diff.ts';
import { describe, type Problem } from '../../model/problem.ts';
import { digestOf } from '../../snapshot/digest.ts';
import type { BatchSnapshot, BatchWrites, Draft, Idempotency, Result } from '../../state/command.ts';
import type { Rehearsal, StoredSnapshot, WantedSnapshot } from '../../state/view.ts';
import { inSlices } from '../../util/time-slice.ts';
import { installedHeaders, installWaitMs } from '../activation-report.ts';
import type { ActivationWait } from '../activation-wait.ts';
import { nodeProblems } from '../node-checks.ts';
import { idempotencyIn, ifMatchOf } from '../preconditions.ts';
import { fieldValidationOf, flagOf } from '../query.ts';
import { type Answer, type ApiRequest, inPieces, revisionHeader, stagedTag } from '../resource-answer.ts';
import type { ServiceParts } from '../service-parts.ts';
import { snapshotSummary } from '../snapshot-summary.ts';
import type { Validated } from '../snapshot-validator.ts';
import { unknownFieldWarnings } from '../unknown-fields.ts';
import { joined } from '../warnings.ts';
import { acceptedHeaders, goneSince } from '../write-outcome.ts';
import { answered, countOf, foreseenOf, ownerProblems, prunedText, rehearsedTexts, resultsOf } from './batch-answer.ts';
import { readBatch, type SentBatch, type SentSnapshot } from './sent-batch.ts';

type Parts = Omit<ServiceParts, 'isConfirmationOver'>;

type BatchDraft = Extract<Draft, { op: 'batch' }>;

const mostAttempts = 5;

interface Sent {
  readonly batch: SentBatch;
  readonly request: ApiRequest;
  readonly override: boolean;
  /** The answer counts what was changed, and does not list it. */
  readonly isCounted: boolean;
}

export class BatchService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Answers 200 with the outcome of each operation. Rejects with INVALID, FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED, CONFLICT of
   * the first operation that fails, which the body names; with TOO_LARGE, KEY_REUSED and what the log rejects with.
   */
  run(request: ApiRequest): Promise<Answer> {
    return this.#run(request, batchLimits);
  }

  /** The same within the limits of large batches; the answer has the number of operations that changed something. */
  runLarge(request: ApiRequest): Promise<Answer> {
    return this.#run(request, largeBatchLimits);
  }

  async #run(request: ApiRequest, limits: BatchLimits): Promise<Answer> {
    const isDry = flagOf(request, 'dryRun');
    const override = flagOf(request, 'override');
    const validation = fieldValidationOf(request);
    const batch = await inSlices(readBatch(request, this.#parts.newId, limits));
    await this.#checkOnNode(batch);
    const unknownFields = unknownFieldWarnings(batch.unknown, validation, firstOperation(batch.unknown));
    const sent = { batch, request, override, isCounted: limits === largeBatchLimits };
    const answer = isDry ? await this.#dryRun(sent) : await this.#written(sent);
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

  async #written({ batch, request, override, isCounted }: Sent): Promise<Answer> {
    const { reader, newId } = this.#parts;
    const idempotency = await inSlices(idempotencyIn(request));
    const writes = writesOf(batch, request);
    if (batch.heads.length === 0 && batch.snapshot === undefined && isPlain(writes)) {
      await reader.barrier();
      // It writes nothing, so its key is not kept either; one that stands for another batch is refused all the same.
      const earlier = idempotency.idempotency && (await this.#earlier(idempotency.idempotency));
      const { applied: index, changedAt: staged } = reader.view;
      const headers = earlier ? acceptedHeaders(earlier) : revisionHeader(index);
      const outcome = isCounted ? countOf({}) : await inSlices(resultsOf(batch, {}));
      return answered({ index, outcome, warnings: [], staged }, headers);
    }
    const draft = { op: 'batch', id: newId(), ...writes, ...idempotency } as const;
    const { result, warnings } =
      batch.snapshot === undefined
        ? { result: await this.#once(draft), warnings: [] }
        : await this.#withSnapshot(draft, batch.snapshot);
    const headers = acceptedHeaders(result);
    const outcome = isCounted ? countOf(result) : await inSlices(resultsOf(batch, result));
    const owned = override ? [] : await inSlices(ownerProblems(batch, result));
    const { index, pruned, staged } = result;
    if (pruned !== undefined && pruned.length > 0) {
      this.#parts.logger.info(
        { owner: batch.owner, entities: pruned.length, index },
        'entities of an owner are pruned',
      );
    }
    if (batch.snapshot === undefined) return answered({ index, outcome, pruned, warnings: owned, staged }, headers);
    const snapshot = reader.view.snapshot(result.id);
    if (snapshot === undefined) throw goneSince(result);
    const found = [...owned, ...(warnings ?? (await this.#parts.validator.warningsOf(snapshot)))];
    const written = { index, outcome, pruned, warnings: found, staged };
    if (batch.snapshot.activate) return await this.#activated(written, snapshot, batch.snapshot.wait, headers);
    return answered({ ...written, snapshot: snapshotSummary(snapshot, reader.view) }, headers);
  }

  /** Answers once this node's proxy runs it, and as many proxies as are waited for. */
  async #activated(
    written: Omit<Parameters<typeof answered>[0], 'snapshot'>,
    snapshot: StoredSnapshot,
    wait: ActivationWait | undefined,
    headers: Answer['headers'],
  ): Promise<Answer> {
    const { installed, converge, logger } = this.#parts;
    const { index } = written;
    const [installation, convergence] = await Promise.all([
      installed(index, installWaitMs),
      wait && converge(index, wait.want, wait.withinMs),
    ]);
    const { done, of } = installation;
    logger.info({ snapshot: snapshot.id, title: snapshot.name, index, done, of }, 'a snapshot is active');
    const summary = snapshotSummary(snapshot, { active: { snapshotId: snapshot.id, index } });
    return answered({ ...written, snapshot: summary, convergence }, { ...headers, ...installedHeaders(installation) });
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
      const validated = await this.#validate(draft, wanted, draft.id);
      const snapshot: BatchSnapshot = {
        id: draft.id,
        name: wanted.name,
        ...(draft.owner !== undefined && { owner: draft.owner }),
        ...(wanted.labels !== undefined && { labels: wanted.labels }),
        createdAt,
        checkedAt: validated.checkedAt,
        values: validated.values,
        activate: wanted.activate,
        ...(wanted.isOnLive && { base: validated.base }),
        ...(wanted.keep !== undefined && { keep: wanted.keep }),
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
  async #validate(writes: BatchWrites, wanted: SentSnapshot, id: string): Promise<Validation> {
    const { after, base, verdict, refused } = await this.#rehearse(writes, { ...wanted, id });
    if (verdict.status !== 200 || (wanted.isOnLive && refused !== undefined)) {
      return { checkedAt: after.changedAt, base, values: {}, warnings: [] };
    }
    const { problems, ...validated } = await this.#parts.validator.report(after, {
      strict: wanted.strict,
      failOn: wanted.failOn,
    });
    if (problems.length > 0) throw new SluiceError('INVALID', describe(underSnapshot(problems)));
    const sha256 = { sha256: await inSlices(digestOf({ entities: after.entities, values: validated.resolved })) };
    return { ...validated, base, sha256 };
  }

  async #rehearse(writes: BatchWrites, snapshot?: WantedSnapshot): Promise<Rehearsal> {
    const { view } = this.#parts.reader;
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      const rehearsal = await inSlices(view.rehearse(writes, snapshot));
      // Other writes may be applied during the rehearsal, which must see one state.
      const isOne = view.changedAt === rehearsal.after.changedAt && (view.active?.index ?? 0) === rehearsal.base;
      if (isOne) return rehearsal;
    }
    throw configurationIsChanging();
  }

  /** Runs a dry run: everything but the commit, compile check included. */
  async #dryRun({ batch, request, override, isCounted }: Sent): Promise<Answer> {
    const { reader, validator, newId } = this.#parts;
    await reader.barrier();
    const wanted = batch.snapshot && { ...batch.snapshot, id: newId() };
    const { verdict, after, refused, pairs } = await this.#rehearse(writesOf(batch, request), wanted);
    const rehearsed = { index: reader.view.applied, kind: 'snapshots', id: '' } as const;
    const headers = acceptedHeaders({ ...verdict, ...rehearsed });
    const difference = await inSlices(differenceOf(pairs));
    const outcome = isCounted ? countOf(verdict) : await inSlices(foreseenOf(batch, verdict, difference));
    const owned = override ? [] : await inSlices(ownerProblems(batch, verdict));
    const { problems, warnings } = await validator.report(after, {
      strict: batch.snapshot?.strict ?? false,
      failOn: batch.snapshot?.failOn,
    });
    // The real one too says first what is wrong with the configuration, unless an edit of another writer is in its way.
    const isFirst = problems.length === 0 || batch.snapshot?.isOnLive === true;
    if (refused !== undefined && isFirst) acceptedHeaders({ ...refused, ...rehearsed });
    const told = { problems: underSnapshot(problems), warnings: [...owned, ...warnings] };
    const body = inPieces(rehearsedTexts(`${outcome}${prunedText(verdict.pruned)}`, difference, told));
    return { status: 200, headers: { ...headers, ...stagedTag(after.changedAt) }, body };
  }
}

/** Writes of the batch for the log. */
function writesOf({ operations, owner, prune }: SentBatch, request: ApiRequest): BatchWrites {
  return {
    operations,
    ...(owner !== undefined && { owner }),
    ...(prune !== undefined && { prune }),
    ...ifMatchOf(request),
  };
}

const isPlain = ({ prune, ifMatch }: BatchWrites): boolean => prune === undefined && ifMatch === undefined;

/** Returns the first operation that a pointer names; none for fields beside the operations. */
function firstOperation(pointers: readonly string[]): { readonly operation?: number } {
  for (const pointer of pointers) {
    const [, at] = /^\/operations\/(\d+)(?:\/|$)/.exec(pointer) ?? [];
    if (at !== undefined) return { operation: Number(at) };
  }
  return {};
}

type Validation = Pick<Validated, 'checkedAt' | 'values' | 'warnings'> & {
  readonly base: number;
  readonly sha256?: { readonly sha256: string };
};

const configurationIsChanging = (): SluiceError => new SluiceError('UNAVAILABLE', 'configuration is changing');

const underSnapshot = (problems: readonly Problem[]): Problem[] =>
  problems.map(({ pointer, message }) => ({ pointer: `/snapshot${pointer}`, message }));
