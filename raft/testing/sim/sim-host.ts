// The program above raft, as the simulator has it: applies commands to a state database of its own, writes and
// installs checkpoints, and tells the workload what it may answer.
import type { CheckpointMeta, Index } from '../../core/types.ts';
import type { Committed, Outcome, RaftNode, RoleReport } from '../../driver/host.ts';
import type { ProgramHost } from './machine.ts';
import { applyCommand, copyState, decodeOp, emptyState, type MachineState } from './state-machine.ts';

/** State databases of one node; every change is one atomic, synced batch. Survives the processes that use it. */
export interface StateDisk {
  readonly generations: Map<number, MachineState>;
}

export function newStateDisk(): StateDisk {
  return { generations: new Map([[0, emptyState()]]) };
}

export interface HostWorld {
  /** Runs `run` after `ms`, unless the process has ended; `ms` grows while the host is stalled. */
  later(ms: number, run: () => void): void;
  applyMs(): number;
  registerOf(op: number): number;
  applying(batch: Committed, state: MachineState): void;
  applied(state: MachineState): void;
  outcome(id: number, outcome: Outcome): void;
  readable(id: number, index: Index | undefined): void;
  role(report: RoleReport): void;
  fatal(reason: string): void;
  /** A checkpoint of `state` was written; undefined when it could not be. */
  writeCheckpoint(state: MachineState): Omit<CheckpointMeta, 'config'> | undefined;
  /** The content of a verified file. */
  readCheckpoint(meta: CheckpointMeta): MachineState | undefined;
  installed(meta: CheckpointMeta, state: MachineState): void;
}

export class SimHost implements ProgramHost {
  readonly #world: HostWorld;
  readonly #disk: StateDisk;
  #node: RaftNode | undefined;
  #generation: number;
  #newest: number;
  #queue: Committed[] = [];
  #isApplying = false;

  constructor(disk: StateDisk, generation: number, world: HostWorld) {
    this.#disk = disk;
    this.#world = world;
    this.#generation = generation;
    this.#newest = generation;
    for (const key of [...disk.generations.keys()]) if (key !== generation) disk.generations.delete(key);
  }

  attach(node: RaftNode): void {
    this.#node = node;
  }

  get state(): MachineState {
    const state = this.#disk.generations.get(this.#generation);
    if (state === undefined) throw new Error(`state generation ${this.#generation} does not exist`);
    return state;
  }

  get applied(): Index {
    return this.state.applied;
  }

  stopping(then: () => void): void {
    then();
  }

  committed(batch: Committed): void {
    this.#queue.push(batch);
    this.#applyNext();
  }

  #applyNext(): void {
    const [batch] = this.#queue;
    if (batch === undefined || this.#isApplying) return;
    this.#isApplying = true;
    const generation = this.#generation;
    this.#world.later(this.#world.applyMs(), () => {
      this.#isApplying = false;
      if (generation === this.#generation && this.#queue[0] === batch) {
        this.#queue.shift();
        this.#apply(batch);
      }
      this.#applyNext();
    });
  }

  #apply(batch: Committed): void {
    const { state } = this;
    this.#world.applying(batch, state);
    for (const entry of batch.entries) applyCommand(state, entry, this.#world.registerOf(decodeOp(entry.payload)));
    state.applied = batch.last;
    state.term = batch.term;
    state.time = batch.logTime;
    this.#world.applied(state);
    this.#node?.applied(batch.last);
  }

  outcome(id: number, outcome: Outcome): void {
    this.#world.outcome(id, outcome);
  }

  readable(id: number, index: Index | undefined): void {
    this.#world.readable(id, index);
  }

  role(report: RoleReport): void {
    this.#world.role(report);
  }

  makeCheckpoint(): void {
    this.#world.later(2, () => {
      const image = copyState(this.state);
      this.#world.later(20, () => {
        const written = this.#world.writeCheckpoint(image);
        if (written === undefined) this.#node?.checkpointFailed();
        else this.#node?.checkpointWritten(written);
      });
    });
  }

  install(meta: CheckpointMeta): void {
    this.#world.later(10, () => {
      const state = this.#world.readCheckpoint(meta);
      if (state === undefined) {
        this.#node?.installFailed(meta.index);
        return;
      }
      this.#newest += 1;
      this.#disk.generations.set(this.#newest, copyState(state));
      this.#node?.installed(this.#newest, meta.index);
    });
  }

  adopt(generation: number): void {
    this.#disk.generations.delete(this.#generation);
    this.#generation = generation;
    this.#queue = [];
    this.#world.applied(this.state);
  }

  discard(generation: number): void {
    if (generation !== this.#generation) this.#disk.generations.delete(generation);
  }

  fatal(reason: string): void {
    this.#world.fatal(reason);
  }
}
