import { SluiceError } from '../../errors.ts';
import type { ActivationRecord } from '../../model/answers/activation-record.ts';
import type { ConfigurationDifference } from '../../model/answers/diff-answers.ts';
import { installedHeaders, installWaitMs } from '../activation-report.ts';
import { auditInfoOf } from '../audit-info.ts';
import { configurationDifference } from '../diff/configuration-difference.ts';
import type { Find } from '../findings/findings-report.ts';
import { jsonPieces } from '../json-pieces.ts';
import { idempotencyOf } from '../preconditions.ts';
import { limitTextOf, textOf } from '../query.ts';
import { type Answer, type ApiRequest, entityTag, inPieces, jsonArray, revisionHeader } from '../resource-answer.ts';
import type { ServiceParts } from '../service-parts.ts';
import { snapshotSummary } from '../snapshot-summary.ts';
import { joined } from '../warnings.ts';
import { acceptedHeaders, goneSince } from '../write-outcome.ts';

type Parts = Pick<ServiceParts, 'reader' | 'log' | 'installed' | 'newId' | 'logger'> & { readonly find: Find };

const usualLimit = 100;
/** RFC 3339, as JavaScript reads it without guessing. */
const timestamp = /^(\d{4}-\d\d-(\d\d))[Tt](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

export class ActivationService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** 200 with the newest first; with `?at=` the one that was live then, or none. */
  async list(request: ApiRequest): Promise<Answer> {
    const { reader } = this.#parts;
    const limit = limitOf(request);
    const at = momentOf(request);
    await reader.catchUp(request);
    const { activations, applied } = reader.view;
    const found = at === undefined ? activations.slice(-limit).reverse() : liveAt(activations, at);
    const body = jsonArray(found.map((record) => JSON.stringify(record)));
    return { status: 200, headers: revisionHeader(applied), body };
  }

  /** 200 with the difference from the activation before. Rejects with NOT_FOUND, and GONE where a snapshot is deleted. */
  async diff(index: string, request: ApiRequest): Promise<Answer> {
    const { reader, find } = this.#parts;
    await reader.catchUp(request);
    const { view } = reader;
    const at = view.activations.findIndex((record) => String(record.index) === index);
    const [record, former] = [view.activations[at], view.activations[at - 1]];
    if (record === undefined) throw new SluiceError('NOT_FOUND', `activation ${JSON.stringify(index)} not found`);
    const [to, from] = [record, former].map((each) => each && view.snapshot(each.snapshotId));
    if (to === undefined) throw deleted(record);
    if (former !== undefined && from === undefined) throw deleted(former);
    const headers = revisionHeader(view.applied);
    const ends = { from: former?.snapshotId ?? null, to: record.snapshotId };
    const difference = await configurationDifference(find, from, to);
    const answer: ConfigurationDifference = { ...ends, ...difference, replay: null };
    return { status: 200, headers, body: inPieces(jsonPieces(answer)) };
  }

  /** 200 with the summary of what is live again. Rejects with CONFLICT when there is no way back. */
  async rollBack(request: ApiRequest): Promise<Answer> {
    const { reader, log, installed, newId, logger } = this.#parts;
    const { audit, unknownFields } = await auditInfoOf(request);
    const result = await log.propose({ op: 'rollback', id: newId(), ...audit, ...idempotencyOf(request) });
    const accepted = acceptedHeaders(result);
    const snapshot = reader.view.snapshot(result.id);
    if (snapshot === undefined) throw goneSince(result);
    const installation = await installed(result.index, installWaitMs);
    const { done, of } = installation;
    logger.info(
      { snapshot: snapshot.id, title: snapshot.name, index: result.index, done, of },
      'a snapshot is active again',
    );
    const report = installedHeaders(installation);
    const headers = { ...entityTag(snapshot.revision), ...report, ...accepted, ...joined(unknownFields, report) };
    return {
      status: 200,
      headers,
      body: snapshotSummary(snapshot, { active: { snapshotId: snapshot.id, index: result.index } }),
    };
  }
}

const deleted = ({ index, snapshotId }: ActivationRecord): SluiceError =>
  new SluiceError('GONE', `snapshot ${JSON.stringify(snapshotId)} of activation ${index} is deleted`);

/** Times ascend with the indexes. */
function liveAt(activations: readonly ActivationRecord[], at: number): ActivationRecord[] {
  const found = activations.findLast((record) => Date.parse(record.at) <= at);
  return found === undefined ? [] : [found];
}

function limitOf(request: ApiRequest): number {
  const text = limitTextOf(request) ?? String(usualLimit);
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > 10_000) {
    throw new SluiceError('INVALID', 'limit must be a number from 1 to 10000');
  }
  return Number(text);
}

function momentOf(request: ApiRequest): number | undefined {
  const text = textOf(request, 'at');
  if (text === undefined) return undefined;
  const [, date, day] = timestamp.exec(text) ?? [];
  // JavaScript reads the 30th of February as the 2nd of March.
  const isDay = date !== undefined && new Date(date).getUTCDate() === Number(day);
  const at = isDay ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new SluiceError('INVALID', 'at must be a timestamp such as 2026-03-30T14:22:01Z');
  return at;
}
