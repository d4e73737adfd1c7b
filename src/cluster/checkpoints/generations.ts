// Generations of the state, and the checkpoints that lead from one to the next (architecture.md §7, points 4 and 5).
// The log names the one that counts; all others are leftovers and go.
import type { CheckpointImage, CheckpointMeta, NodeReports, Notices } from '../../../raft/index.ts';
import type { DurableState, Successor } from '../../state/durable-state.ts';
import type { OpenOptions } from '../../state/open-state.ts';
import type { Store } from '../../state/store.ts';
import type { CheckpointKeeper } from '../log/raft-replicated-log.ts';

/** Directories of the stores, one for each generation. */
export interface GenerationStores {
  /** An empty one; what was there before goes. */
  create(generation: number): Promise<Store>;
  /** Marks a generation as complete: a crash of the machine does not take it away any more. */
  seal(generation: number): Promise<void>;
  remove(generation: number): Promise<void>;
}

export interface CheckpointFiles {
  /** Resolves when the file is complete, synced and was read back. */
  write(
    image: Pick<CheckpointImage, 'index' | 'term'> & { readonly content: AsyncIterable<Uint8Array> },
  ): Promise<Omit<CheckpointImage, 'time'>>;
  read(meta: CheckpointMeta): AsyncIterable<Uint8Array>;
}

export interface GenerationsParts {
  readonly stores: GenerationStores;
  readonly checkpoints: CheckpointFiles;
  /** The one that counts at the start. */
  readonly generation: number;
  readonly node: Pick<NodeReports, 'checkpointWritten' | 'checkpointFailed' | 'installed' | 'installFailed'>;
  readonly state: DurableState;
  readonly openOptions: OpenOptions;
  readonly notices: Notices;
}

export class Generations implements CheckpointKeeper {
  readonly #parts: GenerationsParts;
  readonly #built = new Map<number, Successor>();
  #current: number;
  #newest: number;

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
    this.#current = parts.generation;
    this.#newest = this.#current;
  }

  make(): void {
    const { node, notices } = this.#parts;
    this.#write().then(
      (image) => node.checkpointWritten(image),
      (error: unknown) => {
        notices.warning(`no checkpoint could be written: ${textOf(error)}`);
        node.checkpointFailed();
      },
    );
  }

  install(meta: CheckpointMeta): void {
    const { node, notices } = this.#parts;
    const generation = ++this.#newest;
    this.#build(generation, meta).then(
      (successor) => {
        this.#built.set(generation, successor);
        node.installed(generation, meta.index);
      },
      (error: unknown) => {
        notices.warning(`the checkpoint at index ${meta.index} cannot be used: ${textOf(error)}`);
        this.#remove(generation);
        node.installFailed(meta.index);
      },
    );
  }

  discard(generation: number): void {
    const successor = this.#built.get(generation);
    this.#built.delete(generation);
    if (successor === undefined) return;
    void successor.store.close().then(() => this.#remove(generation));
  }

  /** Shows the state of this generation, which the log counts on from now on. */
  async adopt(generation: number): Promise<void> {
    const successor = this.#built.get(generation);
    if (successor === undefined) throw new Error(`generation ${generation} of the state was never built`);
    this.#built.delete(generation);
    const former = this.#current;
    await this.#parts.state.adopt(successor);
    this.#current = generation;
    this.#remove(former);
    this.#parts.notices.notice(`caught up to index ${successor.applied} by a checkpoint`);
  }

  async #write() {
    const { state, checkpoints } = this.#parts;
    const image = await state.image();
    try {
      const { index, term, time, content } = image;
      return { ...(await checkpoints.write({ index, term, content })), time };
    } finally {
      await image.close();
    }
  }

  async #build(generation: number, meta: CheckpointMeta): Promise<Successor> {
    const { stores, checkpoints, state, openOptions } = this.#parts;
    const store = await stores.create(generation);
    const successor = await state.build(store, checkpoints.read(meta), openOptions);
    if (successor.applied === meta.index) {
      await stores.seal(generation);
      return successor;
    }
    await successor.store.close();
    throw new Error(`it ends at index ${successor.applied}`);
  }

  #remove(generation: number): void {
    const { stores, notices } = this.#parts;
    stores
      .remove(generation)
      .catch((error: unknown) =>
        notices.warning(`generation ${generation} of the state stays behind: ${textOf(error)}`),
      );
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
