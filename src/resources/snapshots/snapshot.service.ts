// Snapshots: capture of the staged configuration, reading, deletion, activation (contract.md §2.10, §3.3). A capture is
// checked against the state that this node sees; when the state has moved before the command is applied, it is checked again.
import { SluiceError } from '../../errors.ts';
import { type Problem } from '../../model/problem.ts';
import { Snapshot } from '../../model/snapshot.ts';
import { digestOf } from '../../snapshot/digest.ts';
import { type Form, snapshotTexts } from '../../snapshot/render.ts';
import type { Draft, Result } from '../../state/command.ts';
import { comesTooLate } from '../../state/decide-activation.ts';
import type { StateView, StoredSnapshot } from '../../state/view.ts';
import { inSlices } from '../../util/time-slice.ts';
import { installedHeaders, installWaitMs } from '../activation-report.ts';
import { activationWaitOf, withConvergence } from '../activation-wait.ts';
import { auditInfoOf } from '../audit-info.ts';
import { checkedBody, withoutBody } from '../checked-body.ts';
import { deletionOf } from '../deletion.ts';
import { objectBody } from '../json-body.ts';
import { filtered } from '../list-filter.ts';
import { conditionsOf, idempotencyOf } from '../preconditions.ts';
import { durationOf, failOnOf, flagOf, listFilterOf, refuseEmpty, showsSecrets } from '../query.ts';
import {
  type Answer,
  type ApiRequest,
  entityTag,
  inPieces,
  longJsonArray,
  revisionHeader,
} from '../resource-answer.ts';
import type { ServiceParts } from '../service-parts.ts';
import { snapshotSummary } from '../snapshot-summary.ts';
import type { ValidationOptions } from '../snapshot-validator.ts';
import { notFound } from '../state-reader.ts';
import { joined } from '../warnings.ts';
import { acceptedHeaders, goneSince } from '../write-outcome.ts';

type CaptureDraft = Extract<Draft, { op: 'capture' }>;

const mostCaptures = 5;

export class SnapshotService {
  readonly #parts: ServiceParts;
  readonly #digests = new WeakMap<StoredSnapshot['entities'], Promise<string>>();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** 200 with summaries of those that pass the filters, ascending by time of creation. */
  async list(request: ApiRequest): Promise<Answer> {
    const { reader } = this.#parts;
    const filter = listFilterOf(request);
    await reader.catchUp(request);
    const { applied, active, pending } = reader.view;
    const found = filtered(reader.view.snapshots(), filter, ({ labels }) => labels);
    const body = longJsonArray(summariesOf(found, { active, pending }));
    return { status: 200, headers: revisionHeader(applied), body };
  }

  /** 200 with the snapshot, with values of secrets where they are asked for. Rejects with FORBIDDEN, NOT_FOUND. */
  async get(id: string, request: ApiRequest): Promise<Answer> {
    const { reader } = this.#parts;
    const form = formFor(request);
    await reader.catchUp(request);
    const snapshot = reader.view.snapshot(id);
    if (snapshot === undefined) throw notFound('snapshots', id);
    const headers = { ...entityTag(snapshot.revision), ...revisionHeader(reader.view.applied) };
    return { status: 200, headers, body: bodyOf(snapshot, form) };
  }

  /**
   * Answers 201 with the snapshot and its warnings. Rejects with INVALID for a configuration that could not be served,
   * FORBIDDEN, CONFLICT, KEY_REUSED, and UNAVAILABLE when the configuration changes faster than it can be checked.
   */
  async create(request: ApiRequest): Promise<Answer> {
    const form = formFor(request);
    // The server assigns ids of snapshots; one in the body is no mistake (contract.md §2.1).
    const { id: _, ...body } = await objectBody(request.body);
    const options = { strict: flagOf(request, 'strict'), failOn: failOnOf(request) };
    const { fields, unknownFields } = await checkedBody(Snapshot, body, request);
    const { result, warnings } = await this.#capture(fields, request, options);
    const accepted = acceptedHeaders(result);
    const snapshot = this.#parts.reader.view.snapshot(result.id);
    if (snapshot === undefined) throw goneSince(result);
    const Location = `/api/v1/snapshots/${snapshot.id}`;
    const { validator } = this.#parts;
    const counted = options.failOn === undefined ? await validator.findingsWarning(snapshot) : [];
    const found = [...(warnings ?? (await validator.warningsOf(snapshot))), ...counted];
    // Its activation, which is waited for, finds it done.
    void this.#digestOf(snapshot);
    return {
      status: 201,
      headers: { Location, ...entityTag(result.index), ...accepted, ...unknownFields },
      body: bodyOf(snapshot, form, `,"warnings":${JSON.stringify(found)}`),
    };
  }

  /** 204. Rejects with NOT_FOUND, PRECONDITION_FAILED, and CONFLICT while it is active. */
  async remove(id: string, request: ApiRequest): Promise<Answer> {
    const { reader, log } = this.#parts;
    await reader.mustExist('snapshots', id);
    const deletion = await deletionOf(request);
    const conditions = conditionsOf(request, reader.view.revision('snapshots', id));
    const result = await log.propose({ op: 'delete', kind: 'snapshots', id, ...conditions });
    return { status: 204, headers: { ...acceptedHeaders(result), ...deletion.warningsOf(result) }, body: '' };
  }

  /**
   * 200 with the summary, once this node's proxy runs it or five seconds have passed; listeners that could not open are
   * named in `Warning`. Rejects with NOT_FOUND.
   */
  async activate(id: string, request: ApiRequest): Promise<Answer> {
    const { reader, log, logger, installed, converge } = this.#parts;
    await reader.mustExist('snapshots', id);
    const wait = activationWaitOf(request);
    const { audit, unknownFields } = await auditInfoOf(request);
    const conditions = {
      ...conditionsOf(request, reader.view.revision('snapshots', id)),
      ...idempotencyOf(request),
      ...confirmWithinOf(request),
      ...forceOf(request),
    };
    // Absent when this node does not have it yet.
    const captured = reader.view.snapshot(id);
    const sha256 = captured === undefined ? {} : { sha256: await this.#digestOf(captured) };
    const result = await log.propose({ op: 'activate', id, ...conditions, ...audit, ...sha256 });
    const accepted = acceptedHeaders(result);
    const snapshot = reader.view.snapshot(id);
    if (snapshot === undefined) throw goneSince(result);
    const [installation, convergence] = await Promise.all([
      installed(result.index, installWaitMs),
      wait && converge(result.index, wait.want, wait.withinMs),
    ]);
    const { done, of } = installation;
    logger.info({ snapshot: id, title: snapshot.name, index: result.index, done, of }, 'a snapshot is active');
    const report = installedHeaders(installation);
    const headers = {
      ...entityTag(snapshot.revision),
      ...report,
      ...accepted,
      ...joined(unknownFields, report),
    };
    const { pending } = reader.view;
    const summary = snapshotSummary(snapshot, { active: { snapshotId: id, index: result.index }, pending });
    return { status: 200, headers, body: withConvergence(summary, convergence) };
  }

  /** 200 with the summary: it stays active. Rejects with NOT_FOUND, and CONFLICT when it waits for no confirmation. */
  async confirm(id: string, request: ApiRequest): Promise<Answer> {
    const { reader, log, isConfirmationOver } = this.#parts;
    await reader.mustExist('snapshots', id);
    const unknownFields = await withoutBody(request);
    const waiting = reader.view.pending;
    if (waiting?.snapshotId === id && isConfirmationOver(waiting.index))
      throw new SluiceError('CONFLICT', comesTooLate(id));
    const result = await log.propose({ op: 'confirm', id, ...idempotencyOf(request) });
    const accepted = acceptedHeaders(result);
    const snapshot = reader.view.snapshot(id);
    if (snapshot === undefined) throw goneSince(result);
    const headers = { ...entityTag(snapshot.revision), ...accepted, ...unknownFields };
    return { status: 200, headers, body: snapshotSummary(snapshot, reader.view) };
  }

  /** Digest of the snapshot as proxies get it; computed once. */
  #digestOf(snapshot: StoredSnapshot): Promise<string> {
    const known = this.#digests.get(snapshot.entities);
    if (known !== undefined) return known;
    const digest = inSlices(digestOf(snapshot));
    this.#digests.set(snapshot.entities, digest);
    return digest;
  }

  async #capture(
    { name, owner, labels }: Pick<Snapshot, 'name' | 'owner' | 'labels'>,
    request: ApiRequest,
    options: ValidationOptions,
  ): Promise<CaptureResult> {
    const { reader, log, validator, newId, clock, logger } = this.#parts;
    const createdAt = new Date(clock.nowMs()).toISOString();
    const marks = { ...(owner !== undefined && { owner }), ...(labels !== undefined && { labels }) };
    const draft = { op: 'capture', id: newId(), name, ...marks, createdAt, ...idempotencyOf(request) } as const;
    const earlier = draft.idempotency === undefined ? undefined : await this.#repeated(draft);
    if (earlier !== undefined) return { result: earlier };
    for (let attempt = 1; attempt <= mostCaptures; attempt++) {
      await reader.barrier();
      const { checkedAt, values, warnings } = await validator.validate(reader.view, options);
      const holdsWrites = attempt > 1 && ({ holdsWrites: true } as const);
      const result = await log.propose({ ...draft, checkedAt, values, ...holdsWrites });
      if (result.status !== 'moved') return { result, warnings };
      logger.info({ snapshot: name, attempt }, 'the configuration changed while it was checked');
    }
    throw new SluiceError('UNAVAILABLE', 'configuration is changing');
  }

  // A repeated request must be answered as the first one was, although the configuration may no longer pass the checks.
  // A capture that was checked against the empty state is `moved` unless its key is known or the state is still empty.
  async #repeated(draft: Omit<CaptureDraft, 'checkedAt' | 'values'>): Promise<Result | undefined> {
    const result = await this.#parts.log.propose({ ...draft, checkedAt: 0, values: {} });
    return result.status === 'moved' ? undefined : result;
  }
}

const confirmLimits = { min: 5_000, max: 24 * 3_600_000, range: '5s to 24h' } as const;

function confirmWithinOf(request: ApiRequest): { confirmWithin?: number } {
  refuseEmpty(request, 'confirmWithin', `a duration from ${confirmLimits.range}`);
  const confirmWithin = durationOf(request, 'confirmWithin', confirmLimits);
  return confirmWithin === undefined ? {} : { confirmWithin };
}

const forceOf = (request: ApiRequest): { force?: true } => (flagOf(request, 'force') ? { force: true } : {});

interface CaptureResult {
  readonly result: Result;
  /** Absent when the capture is not new. */
  readonly warnings?: readonly Problem[];
}

const formFor = (request: ApiRequest): Form => (showsSecrets(request) ? 'resolved' : 'references');

/** Body of a snapshot; `more`: members beside its own. */
const bodyOf = (snapshot: StoredSnapshot, form: Form, more?: string): Answer['body'] =>
  inPieces(snapshotTexts(snapshot, form, more));

function* summariesOf(
  snapshots: Iterable<StoredSnapshot>,
  live: Pick<StateView, 'active' | 'pending'>,
): Generator<string> {
  for (const snapshot of snapshots) yield snapshotSummary(snapshot, live);
}
