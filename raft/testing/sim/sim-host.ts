// Simulated program above raft: applies commands in memory, and writes them to a state database of its own a while
// later, as the log permits; writes and installs checkpoints, and tells the workload which answers are allowed.
import type { CheckpointMeta, Index } from '../../core/types.ts';
import type { CheckpointImage, Committed, Outcome, RaftNode, RoleReport } from '../../driver/driver-host.ts';
import type { DiskOperations } from './disk-operations.ts';
import type { ProgramHost } from './machine.ts';
import { applyCommand, copyState, decodeOp, emptyState, type MachineState } from './state-machine.ts';

/** Longest lag of the database: longer than in the product, so that code that relies on it fails here. */
const syncAfterMs = 2_000;

/** State databases of one node; every change is one atomic, synced batch. Survives the processes that use it. */
export interface StateDisk {
  readonly generations: Map<number, MachineState>;
}

export function newStateDisk(): StateDisk {
  return { generations: new Map([[0, emptyState()]]) };
}

export interface HostWorld {
  readonly operations: DiskOperations;
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
  /** Writes a checkpoint of `state`; `done` hears undefined when it could not be written. */
  writeCheckpoint(state: MachineState, done: (meta: CheckpointImage | undefined) => void): void;
  /** The content of a verified file. */
  readCheckpoint(meta: CheckpointMeta): MachineState | undefined;
  /** The state of this generation counts from now on. */
  adopted(state: MachineState): void;
}

export class SimHost implements ProgramHost {
  readonly #world: HostWorld;
  readonly #disk: StateDisk;
  #node: RaftNode | undefined;
  #generation: number;
  #newest: number;
  #queue: Committed[] = [];
  #isApplying = false;
  /** State that is shown; the database may be behind it. */
  #state: MachineState;
  #isSyncPlanned = false;

  constructor(disk: StateDisk, generation: number, world: HostWorld) {
    this.#disk = disk;
    this.#world = world;
    this.#generation = generation;
    this.#newest = generation;
    this.#state = this.#onDisk(generation);
    for (const key of [...disk.generations.keys()]) if (key !== generation) this.#remove(key);
  }

  attach(node: RaftNode): void {
    this.#node = node;
  }

  get state(): MachineState {
    return this.#state;
  }

  #onDisk(generation: number): MachineState {
    const state = this.#disk.generations.get(generation);
    if (state === undefined) throw new Error(`state generation ${generation} does not exist`);
    return copyState(state);
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
    const state = this.#state;
    this.#world.applying(batch, state);
    const before = state.activation;
    for (const entry of batch.entries) applyCommand(state, entry, this.#world.registerOf(decodeOp(entry.payload)));
    state.applied = batch.last;
    state.term = batch.term;
    state.time = batch.logTime;
    // What proxies are shown is on disk before.
    if (state.activation === before) this.#syncLater();
    else if (!this.#sync()) return;
    this.#world.applied(state);
    this.#node?.applied(batch.last);
  }

  #syncLater(): void {
    if (this.#isSyncPlanned) return;
    this.#isSyncPlanned = true;
    this.#world.later(syncAfterMs, () => {
      this.#isSyncPlanned = false;
      this.#sync();
    });
  }

  /** False when the process ended over it. */
  #sync(): boolean {
    return this.#world.operations.perform('state', () => this.#write(copyState(this.#state)));
  }

  /** One batch: what has changed, and up to where it was applied. */
  #write(state: MachineState): void {
    this.#disk.generations.set(this.#generation, state);
  }

  outcome(id: number, outcome: Outcome): void {
    this.#world.outcome(id, outcome);
  }

  readable(id: number, index: Index | undefined): void {
    this.#world.readable(id, index);
  }

  disk(): void {}

  role(report: RoleReport): void {
    this.#world.role(report);
  }

  makeCheckpoint(): void {
    this.#world.later(2, () => {
      // The log goes as far as the checkpoint reaches: the database must hold all of that.
      if (!this.#sync()) return;
      this.#world.writeCheckpoint(copyState(this.state), (written) => {
        if (written === undefined) this.#node?.checkpointFailed();
        else this.#node?.checkpointWritten(written);
      });
    });
  }

  install(meta: CheckpointMeta): void {
    this.#newest += 1;
    const generation = this.#newest;
    // Half built, as a crash would leave it.
    if (!this.#put(generation, emptyState())) return;
    // The file is open from here on, even if its name goes.
    const state = this.#world.readCheckpoint(meta);
    this.#world.later(10, () => {
      if (state === undefined) {
        this.#remove(generation);
        this.#node?.installFailed(meta.index);
      } else if (this.#put(generation, copyState(state))) this.#node?.installed(generation, meta.index);
    });
  }

  #put(generation: number, state: MachineState): boolean {
    return this.#world.operations.perform('state', () => this.#disk.generations.set(generation, state));
  }

  #remove(generation: number): void {
    this.#world.operations.perform('remove', () => this.#disk.generations.delete(generation));
  }

  adopt(generation: number): void {
    this.#remove(this.#generation);
    this.#generation = generation;
    this.#queue = [];
    this.#state = this.#onDisk(generation);
    this.#world.adopted(this.state);
    this.#world.applied(this.state);
  }

  discard(generation: number): void {
    if (generation !== this.#generation) this.#remove(generation);
  }

  fatal(reason: string): void {
    this.#world.fatal(reason);
  }
}

/** The registers of a process, if it is one of this program. */
export function stateOf(host: ProgramHost | undefined): MachineState | undefined {
  return host instanceof SimHost ? host.state : undefined;
}
