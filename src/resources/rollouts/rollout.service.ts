import { SluiceError } from '../../errors.ts';
import { PromotionRequest } from '../../model/activation-request.ts';
import type { ShadowReport } from '../../model/fleet-messages.ts';
import { RolloutRequest } from '../../model/rollout-request.ts';
import { digestOf } from '../../snapshot/digest.ts';
import type { Draft, MoveRollout, Result } from '../../state/command.ts';
import type { Rollout } from '../../state/rollout.ts';
import { inSlices } from '../../util/time-slice.ts';
import { callerOf } from '../audit-info.ts';
import { checkedBody, withoutBody } from '../checked-body.ts';
import { optionalBody } from '../json-body.ts';
import { idempotencyOf } from '../preconditions.ts';
import { type Answer, type ApiRequest, jsonArray, revisionHeader } from '../resource-answer.ts';
import type { ServiceParts } from '../service-parts.ts';
import type { Warnings } from '../warnings.ts';
import { acceptedHeaders, goneSince } from '../write-outcome.ts';
import { hasShadow, rolloutText } from './rollout-answer.ts';
import { planOf } from './rollout-plan.ts';

type Parts = Pick<ServiceParts, 'reader' | 'log' | 'newId'> & {
  /** Resolves with what the fleet knows of the comparisons of a rollout; undefined: nothing. */
  readonly shadow: (rollout: string) => Promise<ShadowReport | undefined>;
};

export class RolloutService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** 200 with all that are kept, the newest first. */
  async list(request: ApiRequest): Promise<Answer> {
    const { reader } = this.#parts;
    await reader.catchUp(request);
    const { rollouts, applied } = reader.view;
    const newest = rollouts.at(-1);
    const reported = newest && (await this.#reported(newest));
    const counts = reported && { counts: reported.counts };
    const texts = [...rollouts].reverse().map((each) => rolloutText(each, each === newest ? counts : undefined));
    return { status: 200, headers: revisionHeader(applied), body: jsonArray(texts) };
  }

  /** 200. Rejects with NOT_FOUND. */
  async get(id: string, request: ApiRequest): Promise<Answer> {
    const { reader } = this.#parts;
    await reader.catchUp(request);
    const rollout = this.#find(id);
    if (rollout === undefined) throw rolloutNotFound(id);
    const { applied } = reader.view;
    const body = rolloutText(rollout, await this.#reported(rollout));
    return { status: 200, headers: revisionHeader(applied), body };
  }

  /** 202 with the rollout. Rejects with INVALID, NOT_FOUND, and CONFLICT while something else is under way. */
  async start(snapshotId: string, request: ApiRequest): Promise<Answer> {
    const { reader, newId } = this.#parts;
    await reader.mustExist('snapshots', snapshotId);
    const { fields, unknownFields } = await checkedBody(RolloutRequest, await optionalBody(request.body), request);
    const { comment, ...plan } = fields;
    const snapshot = reader.view.snapshot(snapshotId);
    const sha256 = snapshot && (await inSlices(digestOf(snapshot)));
    const { result, headers } = await this.#propose({
      op: 'rollout',
      action: 'start',
      id: newId(),
      snapshotId,
      plan: planOf(plan),
      ...callerOf(request.caller),
      ...(comment !== undefined && { comment }),
      ...(sha256 !== undefined && { sha256 }),
      ...idempotencyOf(request),
    });
    const Location = `/api/v1/rollouts/${result.id}`;
    return { status: 202, headers: { Location, ...headers, ...unknownFields }, body: this.#shown(result) };
  }

  /** 200 with the rollout. Rejects with NOT_FOUND, and CONFLICT when its state does not allow it. */
  async move(id: string, action: Exclude<MoveRollout['action'], 'promote'>, request: ApiRequest): Promise<Answer> {
    await this.#mustExist(id);
    const unknownFields = await withoutBody(request);
    return await this.#moved({ op: 'rollout', id, action }, unknownFields, request);
  }

  /** Moves the rollout to its next step now, or with `{"share":100}` to its end. */
  async promote(id: string, request: ApiRequest): Promise<Answer> {
    await this.#mustExist(id);
    const { fields, unknownFields } = await checkedBody(PromotionRequest, await optionalBody(request.body), request);
    const finish = fields.share === 100 && { finish: true as const };
    return await this.#moved({ op: 'rollout', id, action: 'promote', ...finish }, unknownFields, request);
  }

  async #moved(
    draft: { op: 'rollout'; id: string; action: MoveRollout['action']; finish?: true },
    unknownFields: Warnings,
    request: ApiRequest,
  ): Promise<Answer> {
    const audit = { ...callerOf(request.caller), ...idempotencyOf(request) };
    const { result, headers } = await this.#propose({ ...draft, ...audit });
    return { status: 200, headers: { ...headers, ...unknownFields }, body: this.#shown(result) };
  }

  async #propose(draft: Draft): Promise<{ result: Result; headers: Answer['headers'] }> {
    const result = await this.#parts.log.propose(draft);
    return { result, headers: acceptedHeaders(result) };
  }

  /** Rollout of the result; a repetition shows its present state. */
  #shown(result: Result): string {
    const rollout = this.#find(result.id);
    if (rollout === undefined) throw goneSince(result);
    return rolloutText(rollout);
  }

  /** Nodes remember the comparisons of the last rollout. */
  async #reported(rollout: Rollout): Promise<ShadowReport | undefined> {
    return hasShadow(rollout) ? await this.#parts.shadow(rollout.id) : undefined;
  }

  #find(id: string): Rollout | undefined {
    return this.#parts.reader.view.rollouts.find((one) => one.id === id);
  }

  async #mustExist(id: string): Promise<void> {
    if (this.#find(id) !== undefined) return;
    await this.#parts.reader.barrier();
    if (this.#find(id) === undefined) throw rolloutNotFound(id);
  }
}

const rolloutNotFound = (id: string): SluiceError =>
  new SluiceError('NOT_FOUND', `rollout ${JSON.stringify(id)} not found`);
