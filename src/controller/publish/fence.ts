// Fence against late batches: one entity of the owner that each leader rewrites at the beginning of its term, and that each
// batch names with the revision of that. A batch of a former leader is refused as a whole.
import type { EditableKind } from '../../model/kinds.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { entityId } from '../graph/entity-id.ts';
import { type SluiceApi, SluiceRefusal, type StoredEntity } from './sluice-api.ts';

export interface FenceTools {
  readonly api: Pick<SluiceApi, 'list' | 'batch'>;
  readonly owner: string;
  readonly instance: string;
  readonly logger: Logger;
}

interface FenceOperation {
  readonly op: 'upsert';
  readonly kind: EditableKind;
  readonly body: object;
  readonly ifMatch: string;
}

const preconditionFailed = 412;

export const fenceId = (owner: string): string => entityId('controller', owner);

export class Fence {
  readonly id: string;
  readonly #tools: FenceTools;
  #etag = '';
  /** Number of the own term. Those of one owner rise, also when the Lease is deleted. */
  #term = 0;

  constructor(tools: FenceTools) {
    this.#tools = tools;
    this.id = fenceId(tools.owner);
  }

  /**
   * Begins a term, a later one than all before: the election says who may. Rejects when it is not the first time in this
   * leadership and another process has begun a term since.
   */
  async raise(isFirst: boolean): Promise<void> {
    const { api, owner } = this.#tools;
    const owned = await api.list('middlewares', `?owner=${encodeURIComponent(owner)}`);
    const before = Number(owned.find(({ id }: StoredEntity) => id === this.id)?.labels?.term ?? 0);
    if (!isFirst && before > this.#term) throw new Error('a later leader writes to Sluice');
    this.#term = Math.max(this.#term, before) + 1;
    const { results } = await api.batch<{ readonly results: readonly { readonly etag: string }[] }>({
      owner,
      operations: [{ op: 'upsert', kind: 'middlewares', body: this.#body() }],
    });
    this.#etag = results[0]?.etag ?? '';
  }

  operation(): FenceOperation {
    return { op: 'upsert', kind: 'middlewares', body: this.#body(), ifMatch: this.#etag };
  }

  /** Takes in the revision of the fence after a batch. */
  written(etag: string | undefined): void {
    this.#etag = etag ?? this.#etag;
  }

  /** Returns whether a batch failed because another process has begun a term. @param at number of the fence's operation */
  isLost(error: unknown, at: number): boolean {
    return error instanceof SluiceRefusal && error.status === preconditionFailed && (error.operation ?? at) === at;
  }

  /** A middleware that no route has: it changes nothing. */
  #body(): object {
    const { owner, instance } = this.#tools;
    const labels = { term: String(this.#term), holder: instance.slice(0, 64) };
    return { id: this.id, name: `${owner} (writer)`, type: 'headers', headers: {}, owner, labels };
  }
}
