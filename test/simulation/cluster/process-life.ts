// Parts of a simulated process, and its lifetime: nothing that it planned happens after its end.
import { createHash } from 'node:crypto';
import type { Committed } from '../../../raft/index.ts';
import type { Chance } from '../../../raft/testing/sim/chance.ts';
import type { CheckpointShelf } from '../../../raft/testing/sim/checkpoint-shelf.ts';
import type { Surroundings } from '../../../raft/testing/sim/machine.ts';
import type { CheckpointFiles } from '../../../src/cluster/checkpoints/generations.ts';
import type { LeaderConnections } from '../../../src/cluster/relay/leader-connections.ts';
import type { ConfirmationOptions } from '../../../src/leader/confirmation-controller.ts';
import type { Draft } from '../../../src/state/command.ts';
import type { Clock } from '../../../src/util/clock.ts';
import type { StateDisk, StoreWorld } from './state-disk.ts';

export interface ProcessParts {
  readonly nodeId: string;
  readonly disk: StateDisk;
  readonly shelf: () => CheckpointShelf;
  /** Content of every checkpoint by its hash. */
  readonly library: Map<string, Uint8Array>;
  /** Length that raft takes a checkpoint file to have. */
  readonly checkpointSize: number;
  readonly surroundings: Surroundings;
  readonly chance: Chance;
  readonly relayKey: Uint8Array | undefined;
  readonly connections: (caller: ProcessLife) => Pick<LeaderConnections, 'call'>;
  /** Code of the product ran: its promises have to come to rest. */
  readonly ran: () => void;
  readonly committed: (batch: Committed) => void;
  /** Caught up by a checkpoint. */
  readonly installed: () => void;
  /** Returns whether the next write of the state is to fail. */
  readonly failsWrite: () => boolean;
  readonly fail: (rule: string, detail: string) => void;
  readonly confirmation: ConfirmationOptions;
  /** Tags a command that the leader proposes by itself, with a number like every write of the simulation. */
  readonly tagged: (draft: Draft) => Draft;
}

const sliceBytes = 700;

export class ProcessLife {
  readonly #parts: ProcessParts;
  readonly #whenEnded = new Set<() => void>();
  /** True once it knows its state and takes part. */
  isWhole = false;
  isOver = false;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
  }

  /** Runs in this process or never, and counts as code of the product. */
  later(ms: number, run: () => void): void {
    const { surroundings, ran } = this.#parts;
    if (this.isOver) return;
    surroundings.later(ms, () => {
      ran();
      run();
    });
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.later(ms, resolve));
  }

  end(): void {
    this.isOver = true;
    for (const ended of this.#whenEnded) ended();
  }

  /** Returns the end of the subscription. */
  onEnd(ended: () => void): () => void {
    this.#whenEnded.add(ended);
    return () => this.#whenEnded.delete(ended);
  }
}

export const storeWorldOf = ({ surroundings, failsWrite }: ProcessParts, life: ProcessLife): StoreWorld => ({
  later: (ms, run) => life.later(ms, run),
  writeMs: () => surroundings.applyMs(),
  fails: () => life.isWhole && failsWrite(),
});

export function clockOf({ surroundings: { clock } }: ProcessParts, life: ProcessLife): Clock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (ms, run) => {
      let isCancelled = false;
      life.later(ms, () => {
        if (!isCancelled) run();
      });
      return () => {
        isCancelled = true;
      };
    },
  };
}

export const randomBytesOf =
  (chance: Chance) =>
  (count: number): Buffer =>
    Buffer.from(Uint8Array.from({ length: count }, () => chance.below(256)));

export function checkpointFilesOf(
  { shelf, library, checkpointSize: size }: ProcessParts,
  life: ProcessLife,
): CheckpointFiles {
  return {
    async write({ index, term, content }) {
      const slices: Uint8Array[] = [];
      for await (const slice of content) slices.push(slice);
      const bytes = Buffer.concat(slices);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const later = (ms: number, run: () => void) => life.later(ms, run);
      const file = await new Promise<string>((done) => shelf().write({ index, term, sha256, size }, later, done));
      library.set(sha256, bytes);
      return { index, term, file, size, sha256 };
    },
    async *read(meta) {
      const bytes = shelf().holds(meta) ? library.get(meta.sha256) : undefined;
      if (bytes === undefined) throw new Error(`there is no file ${meta.file}`);
      await life.wait(2);
      for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
    },
  };
}
