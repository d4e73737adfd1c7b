// Progressive activation of a batch: Sluice takes a snapshot as a candidate step by step, and the end of that is awaited. A
// candidate that does not become active is discarded, so that what is staged is what is live.
import type { StagedDifference } from '../../model/answers/entity-difference.ts';
import type { ShownRollout } from '../../model/answers/rollout-answers.ts';
import { reasonOf } from '../../telemetry/error-reason.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import { fenceId } from './fence.ts';
import { type SluiceApi, SluiceRefusal } from './sluice-api.ts';

export interface RolloutTools {
  readonly api: Pick<SluiceApi, 'get' | 'post'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: string;
  /** Called when `progress` is different. */
  readonly onProgress: () => void;
}

/** Rollout; a server of an earlier version does not say whether the end of it activated anything. */
type StoredRollout = Pick<ShownRollout, 'id' | 'state'> &
  Partial<Pick<ShownRollout, 'activated' | 'comment' | 'events'>>;

export interface RolloutEnd {
  /** Reason why the changes are not active; undefined: they are. */
  readonly failure: string | undefined;
}

const askMs = 1_000;
const over: ReadonlySet<StoredRollout['state']> = new Set(['completed', 'rolledBack', 'aborted']);

export class Rollouts {
  readonly #tools: RolloutTools;
  /** State of the one that is awaited, for statuses. */
  progress: string | undefined;

  constructor(tools: RolloutTools) {
    this.#tools = tools;
  }

  /** Begins one and waits for its end. Returns undefined when `isWanted` says no before that. */
  async run(snapshotId: string, settings: object, isWanted: () => boolean): Promise<RolloutEnd | undefined> {
    const path = `/snapshots/${encodeURIComponent(snapshotId)}/rollout`;
    try {
      const { id } = await this.#tools.api.post<{ readonly id: string }>(path, { ...settings, comment: this.#comment });
      return await this.#follow(id, isWanted);
    } catch (error) {
      if (!(error instanceof SluiceRefusal) || error.status !== 400) throw error;
      await this.#discard();
      return { failure: `the rollout is refused: ${error.message}` };
    }
  }

  /**
   * Waits for the end of one that an earlier leader began, and discards a candidate that it has left. Returns false when
   * `isWanted` says no before that.
   */
  async finish(isWanted: () => boolean): Promise<boolean> {
    const { api, owner, logger } = this.#tools;
    const all = await api.get<readonly StoredRollout[]>('/rollouts');
    const running = all.find(({ comment, state }) => comment === this.#comment && !over.has(state));
    if (running !== undefined && (await this.#follow(running.id, isWanted)) === undefined) return false;
    const { entities } = await api.get<StagedDifference>(`/staged/diff?owner=${encodeURIComponent(owner)}`);
    const edits = [...entities.created, ...entities.changed, ...entities.deleted];
    if (edits.every(({ id }) => id === fenceId(owner))) return true;
    try {
      await this.#discard();
    } catch (error) {
      if (!(error instanceof SluiceRefusal) || error.status !== 409) throw error;
      logger.warn({ reason: reasonOf(error) }, 'edits that are not live cannot be discarded: they are overwritten');
    }
    return true;
  }

  get #comment(): string {
    return `rollout of ${this.#tools.owner}`;
  }

  async #follow(id: string, isWanted: () => boolean): Promise<RolloutEnd | undefined> {
    const { api, clock, logger } = this.#tools;
    try {
      while (isWanted()) {
        const rollout = await api.get<StoredRollout>(`/rollouts/${id}`).catch((error: unknown) => {
          logger.debug({ reason: reasonOf(error) }, 'a rollout cannot be asked for');
          return undefined;
        });
        if (rollout !== undefined && over.has(rollout.state)) return await this.#ended(rollout);
        if (rollout !== undefined) this.#note(`rollout ${id} is ${rollout.state}`);
        await new Promise<void>((resolve) => {
          clock.after(askMs, () => resolve());
        });
      }
      return undefined;
    } finally {
      this.#note(undefined);
    }
  }

  #note(progress: string | undefined): void {
    if (progress === this.progress) return;
    this.progress = progress;
    this.#tools.onProgress();
  }

  async #ended(rollout: StoredRollout): Promise<RolloutEnd> {
    const { id, state, events = [] } = rollout;
    if (isActive(rollout)) return { failure: undefined };
    await this.#discard();
    const guard = events.findLast(({ guard: text }) => typeof text === 'string')?.guard;
    const reason = guard === undefined || guard === null ? '' : `: ${guard} did not hold`;
    const failure = `rollout ${id} ended as ${state}${reason}`;
    this.#tools.logger.warn({ rollout: id, state }, 'a rollout did not make the changes active: they are left out');
    return { failure };
  }

  async #discard(): Promise<void> {
    await this.#tools.api.post('/staged/discard', { owner: this.#tools.owner });
  }
}

const isActive = ({ state, activated }: StoredRollout): boolean => state === 'completed' && activated !== false;
