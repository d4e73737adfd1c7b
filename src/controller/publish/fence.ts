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

export class Fence {
  readonly id: string;
  /** Number of the leadership: rises with each leader. */
  term = 0;
  readonly #tools: FenceTools;
  #etag = '';

  constructor(tools: FenceTools) {
    this.#tools = tools;
    this.id = entityId('controller', tools.owner);
  }

  /** Begins a term. Rejects when a later one has begun. */
  async raise(): Promise<void> {
    const { api, owner } = this.#tools;
    const owned = await api.list('middlewares', `?owner=${encodeURIComponent(owner)}`);
    const before = owned.find(({ id }: StoredEntity) => id === this.id)?.labels?.term;
    if (before !== undefined && Number(before) > this.term) throw new Error('a later leader writes to Sluice');
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
    const labels = { term: String(this.term), holder: instance.slice(0, 64) };
    return { id: this.id, name: `${owner} (writer)`, type: 'headers', headers: {}, owner, labels };
  }
}
