// The generations of the state on disk, `state/<number>`, and the checkpoints that lead from one to the next
// (architecture.md §7, points 4 and 5). The log says which one counts; all others are leftovers and go.
import { open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CheckpointMeta, readCheckpoint, writeCheckpoint } from '../../raft/index.ts';
import type { DurableState, Successor } from '../state/durable-state.ts';
import { generationDirectory, LevelStore } from '../state/level-store.ts';
import type { OpenOptions } from '../state/opening.ts';
import type { CheckpointKeeper, RaftLog } from './raft-log.ts';

export interface GenerationsParts {
  readonly storePath: string;
  /** Where checkpoint files lie. */
  readonly checkpoints: string;
  readonly log: Pick<RaftLog, 'generation' | 'checkpointWritten' | 'checkpointFailed' | 'installed' | 'installFailed'>;
  readonly state: DurableState;
  readonly openOptions: OpenOptions;
  readonly notice: (text: string) => void;
}

export class Generations implements CheckpointKeeper {
  readonly #parts: GenerationsParts;
  readonly #built = new Map<number, Successor>();
  #current: number;
  #newest: number;

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
    this.#current = parts.log.generation;
    this.#newest = this.#current;
  }

  make(): void {
    const { log, notice } = this.#parts;
    this.#write().then(
      (image) => log.checkpointWritten(image),
      (error: unknown) => {
        notice(`no checkpoint could be written: ${textOf(error)}`);
        log.checkpointFailed();
      },
    );
  }

  install(meta: CheckpointMeta): void {
    const { log, notice } = this.#parts;
    const generation = ++this.#newest;
    this.#build(generation, meta).then(
      (successor) => {
        this.#built.set(generation, successor);
        log.installed(generation, meta.index);
      },
      (error: unknown) => {
        notice(`the checkpoint at index ${meta.index} cannot be used: ${textOf(error)}`);
        this.#remove(generation);
        log.installFailed(meta.index);
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
    this.#parts.notice(`caught up to index ${successor.applied} by a checkpoint`);
  }

  async #write() {
    const { state, checkpoints } = this.#parts;
    const image = await state.image();
    try {
      const { index, term, time, content } = image;
      return { ...(await writeCheckpoint(checkpoints, { index, term, content })), time };
    } finally {
      await image.close();
    }
  }

  async #build(generation: number, meta: CheckpointMeta): Promise<Successor> {
    const { storePath, checkpoints, state, openOptions } = this.#parts;
    const directory = generationDirectory(storePath, generation);
    await rm(directory, { recursive: true, force: true });
    const store = await LevelStore.open(directory);
    const successor = await state.build(store, readCheckpoint(checkpoints, meta), openOptions);
    if (successor.applied === meta.index) {
      await syncDirectory(dirname(directory));
      return successor;
    }
    await successor.store.close();
    throw new Error(`it ends at index ${successor.applied}`);
  }

  #remove(generation: number): void {
    const directory = generationDirectory(this.#parts.storePath, generation);
    rm(directory, { recursive: true, force: true }).catch((error: unknown) =>
      this.#parts.notice(`generation ${generation} of the state stays behind: ${textOf(error)}`),
    );
  }
}

/**
 * At start: whatever a crash left of generations that do not count. A log that is new knows of no other generation, so
 * nothing goes on its word.
 */
export async function removeOtherGenerations(storePath: string, generation: number, isNewLog: boolean): Promise<void> {
  const parent = dirname(generationDirectory(storePath, generation));
  const names = await readdir(parent).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const others = names.filter((name) => /^\d+$/.test(name) && name !== String(generation));
  if (isNewLog && others.length > 0) {
    throw new Error(`the log of the state in ${join(parent, ...others.slice(0, 1))} is gone; replace this node`);
  }
  for (const name of others) await rm(join(parent, name), { recursive: true });
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
