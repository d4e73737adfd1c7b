// Progressive activations as operators ask for them (fleet.md §7). What becomes of one over time is a duty of the leader.
import type { ReplicatedLog } from '../../cluster/replicated-log.ts';
import { SluiceError } from '../../errors.ts';
import { describe, pointerOf } from '../../model/problem.ts';
import { RolloutRequest } from '../../model/rollout-request.ts';
import { parseBody } from '../../model/validation.ts';
import { digestOf } from '../../snapshot/digest.ts';
import type { Draft, MoveRollout, Result } from '../../state/command.ts';
import { type Rollout, type RolloutStep, shareOf } from '../../state/rollout.ts';
import { inSlices } from '../../state/slices.ts';
import { callerOf } from '../account.ts';
import { type Answer, type ApiRequest, jsonArray, revisionHeader } from '../answer.ts';
import { optionalBody } from '../json-body.ts';
import { idempotencyOf } from '../preconditions.ts';
import { fieldValidationOf } from '../query.ts';
import type { StateReader } from '../state-reader.ts';
import { unknownFieldWarnings } from '../unknown-fields.ts';
import type { Warnings } from '../warnings.ts';
import { acceptedHeaders, goneSince } from '../write-outcome.ts';
import { durationText, planOf } from './rollout-plan.ts';

interface Parts {
  readonly reader: StateReader;
  readonly log: ReplicatedLog;
  readonly newId: () => string;
}

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
    return { status: 200, headers: revisionHeader(applied), body: jsonArray([...rollouts].reverse().map(rolloutText)) };
  }

  /** 200. Rejects with NOT_FOUND. */
  async get(id: string, request: ApiRequest): Promise<Answer> {
    const { reader } = this.#parts;
    await reader.catchUp(request);
    const rollout = this.#find(id);
    if (rollout === undefined) throw rolloutNotFound(id);
    return { status: 200, headers: revisionHeader(reader.view.applied), body: rolloutText(rollout) };
  }

  /** 202 with the rollout. Rejects with INVALID, NOT_FOUND, and CONFLICT while something else is under way. */
  async start(snapshotId: string, request: ApiRequest): Promise<Answer> {
    const { reader, newId } = this.#parts;
    await reader.mustExist('snapshots', snapshotId);
    const { entity, problems, unknown } = parseBody(RolloutRequest, optionalBody(request.body));
    if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
    const unknownFields = unknownFieldWarnings(unknown, fieldValidationOf(request));
    const { comment, ...fields } = entity;
    const snapshot = reader.view.snapshot(snapshotId);
    const sha256 = snapshot && (await inSlices(digestOf(snapshot)));
    const { result, headers } = await this.#propose({
      op: 'rollout',
      action: 'start',
      id: newId(),
      snapshotId,
      plan: planOf(fields),
      ...callerOf(request.caller),
      ...(typeof comment === 'string' && { comment }),
      ...(sha256 !== undefined && { sha256 }),
      ...idempotencyOf(request),
    });
    const Location = `/api/v1/rollouts/${result.id}`;
    return { status: 202, headers: { Location, ...headers, ...unknownFields }, body: this.#shown(result) };
  }

  /** 200 with the rollout. Rejects with NOT_FOUND, and CONFLICT when its state does not allow it. */
  async move(id: string, action: Exclude<MoveRollout['action'], 'promote'>, request: ApiRequest): Promise<Answer> {
    await this.#mustExist(id);
    const unknown = Object.keys(optionalBody(request.body)).map((key) => pointerOf(key));
    return await this.#moved({ op: 'rollout', id, action }, unknown, request);
  }

  /** The next step now, or with `{"share":100}` the end. */
  async promote(id: string, request: ApiRequest): Promise<Answer> {
    await this.#mustExist(id);
    const { share, ...strange } = optionalBody(request.body);
    if (share !== undefined && share !== null && share !== 100) {
      throw new SluiceError('INVALID', '/share must be 100, or absent for the next step');
    }
    const unknown = Object.keys(strange).map((key) => pointerOf(key));
    const finish = share === 100 && { finish: true as const };
    return await this.#moved({ op: 'rollout', id, action: 'promote', ...finish }, unknown, request);
  }

  async #moved(
    draft: { op: 'rollout'; id: string; action: MoveRollout['action']; finish?: true },
    unknown: readonly string[],
    request: ApiRequest,
  ): Promise<Answer> {
    const unknownFields: Warnings = unknownFieldWarnings(unknown, fieldValidationOf(request));
    const account = { ...callerOf(request.caller), ...idempotencyOf(request) };
    const { result, headers } = await this.#propose({ ...draft, ...account });
    return { status: 200, headers: { ...headers, ...unknownFields }, body: this.#shown(result) };
  }

  async #propose(draft: Draft): Promise<{ result: Result; headers: Answer['headers'] }> {
    const result = await this.#parts.log.propose(draft);
    return { result, headers: acceptedHeaders(result) };
  }

  /** A repetition shows it as it is by now. */
  #shown(result: Result): string {
    const rollout = this.#find(result.id);
    if (rollout === undefined) throw goneSince(result);
    return rolloutText(rollout);
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

function rolloutText(rollout: Rollout): string {
  const { id, snapshotId, name, sha256, state, step, plan, comment, by: startedBy, events } = rollout;
  const { steps, by, key, guards, minRequests, failures, onFail } = plan;
  return JSON.stringify({
    id,
    snapshotId,
    name,
    sha256,
    state,
    step,
    share: shareOf(rollout),
    steps: steps.map(stepText),
    by,
    key,
    guards,
    minRequests,
    checkInterval: durationText(plan.checkIntervalMs),
    failures,
    onFail,
    deadman: durationText(plan.deadmanMs),
    maxStep: durationText(plan.maxStepMs),
    comment,
    startedBy,
    events,
  });
}

const stepText = ({ holdMs, ...step }: RolloutStep): object => ({ ...step, hold: durationText(holdMs) });
