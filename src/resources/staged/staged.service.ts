// Staged configuration as a whole: how it differs from what is live, and the way back to that.
import { SluiceError } from '../../errors.ts';
import type { Discarded, StagedDifference } from '../../model/answers/entity-difference.ts';
import { DiscardRequest, discardKeysMax } from '../../model/discard-request.ts';
import { differenceOf } from '../../model/entity-diff.ts';
import type { EditableKind } from '../../model/kinds.ts';
import { stagedOf } from '../../snapshot/staged.ts';
import type { EntityName } from '../../state/command.ts';
import { liveContent } from '../../state/live-base.ts';
import { type UnfinishedEdit, unfinishedEdits } from '../../state/unfinished-edits.ts';
import type { StateView } from '../../state/view.ts';
import { inSlices } from '../../util/time-slice.ts';
import { callerOf } from '../audit-info.ts';
import { checkedBody } from '../checked-body.ts';
import { optionalBody } from '../json-body.ts';
import { jsonPieces } from '../json-pieces.ts';
import { filtered } from '../list-filter.ts';
import { idempotencyOf, ifMatchOf } from '../preconditions.ts';
import { type ListFilter, listFilterOf } from '../query.ts';
import { type Answer, type ApiRequest, inPieces, revisionHeader, stagedTag } from '../resource-answer.ts';
import type { ServiceParts } from '../service-parts.ts';
import { acceptedHeaders } from '../write-outcome.ts';

type Parts = Pick<ServiceParts, 'reader' | 'log' | 'newId' | 'logger'>;

const mostAttempts = 5;

export class StagedService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** 200 with the difference from the live configuration to the staged one. */
  async diff(request: ApiRequest): Promise<Answer> {
    const { reader } = this.#parts;
    const filter = listFilterOf(request);
    await reader.catchUp(request);
    const { view } = reader;
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      const { applied, changedAt, active } = view;
      const snapshot = active && view.snapshot(active.snapshotId);
      const edits = await inSlices(editsIn(view));
      // Other writes may be applied meanwhile, and the difference is one of two moments that belong together.
      if (view.changedAt !== changedAt || view.active?.index !== active?.index) continue;
      const difference = await inSlices(differenceOf(chosen(edits, filter)));
      const live = snapshot && { id: snapshot.id, name: snapshot.name, index: active.index };
      const answer: StagedDifference = { index: applied, active: live ?? null, entities: difference };
      const body = inPieces(jsonPieces(answer));
      return { status: 200, headers: { ...stagedTag(changedAt), ...revisionHeader(applied) }, body };
    }
    throw new SluiceError('UNAVAILABLE', 'configuration is changing');
  }

  /** 200 with the entities whose edits were discarded. Rejects with INVALID, CONFLICT, PRECONDITION_FAILED. */
  async discard(request: ApiRequest): Promise<Answer> {
    const { log, newId, logger } = this.#parts;
    const sent = await optionalBody(request.body, discardKeysMax);
    const { fields, unknownFields } = await checkedBody(DiscardRequest, sent, request);
    const { owner, entities } = fields;
    const named = entities?.map(({ kind, id }): EntityName => [kind as EditableKind, id]);
    const choice = { ...(owner !== undefined && { owner }), ...(named !== undefined && { entities: named }) };
    const conditions = { ...ifMatchOf(request), ...idempotencyOf(request) };
    const result = await log.propose({ op: 'discard', id: newId(), ...choice, ...conditions });
    const accepted = acceptedHeaders(result);
    const { index, discarded = [], staged } = result;
    logger.info({ ...callerOf(request.caller), owner, entities: discarded.length, index }, 'edits are discarded');
    const answer: Discarded = { index, discarded: discarded.map(([kind, id]) => ({ kind, id })) };
    return {
      status: 200,
      headers: { ...stagedTag(staged), ...accepted, ...unknownFields },
      body: JSON.stringify(answer),
    };
  }
}

function* editsIn(view: StateView): Generator<void, UnfinishedEdit[]> {
  const found: UnfinishedEdit[] = [];
  const { entities } = stagedOf(view);
  for (const edit of unfinishedEdits(liveContent(view), { entities, secret: (id) => view.get('secrets', id) })) {
    if (edit === undefined) yield;
    else found.push(edit);
  }
  return found;
}

/** Edits whose entity passes the filter, as it is live or as it is staged. */
function* chosen(edits: readonly UnfinishedEdit[], filter: ListFilter): Generator<UnfinishedEdit> {
  for (const edit of edits) {
    const versions = [edit.before, edit.after].filter((version) => version !== undefined);
    const [passes] = filtered(versions, filter, ({ spec }) => spec.labels);
    if (passes !== undefined) yield edit;
  }
}
