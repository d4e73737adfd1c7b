// The simulator's own program: registers on a state disk whose writes are atomic and synced, and come behind the answers.
import type { CheckpointMeta } from '../../core/types.ts';
import type { CheckpointImage } from '../../driver/driver-host.ts';
import { flawOf } from '../history/flaw.ts';
import { Chance } from './chance.ts';
import type { Later } from './checkpoint-shelf.ts';
import { ContentChecks } from './content-checks.ts';
import type { Machine, ProgramHost, Surroundings } from './machine.ts';
import { Onlookers } from './onlookers.ts';
import type { Program, ProgramWorld } from './program.ts';
import { type HostWorld, newStateDisk, SimHost } from './sim-host.ts';
import type { SimNode } from './sim-node.ts';
import { decodeOp, type MachineState } from './state-machine.ts';
import { Workload } from './workload.ts';

/** Clients and observers of the registers. */
interface Audience {
  readonly contents: ContentChecks;
  readonly onlookers: Onlookers;
  readonly workload: Workload;
}

export class RegisterProgram implements Program {
  readonly lingerMs = 0;
  readonly opOf = decodeOp;
  readonly #world: ProgramWorld;
  /** Content of every checkpoint file by its hash. */
  readonly #library = new Map<string, MachineState>();
  #audience: Audience | undefined;

  constructor(world: ProgramWorld) {
    this.#world = world;
  }

  machine(node: SimNode): Machine {
    let disk = newStateDisk();
    return {
      clientAddress: '',
      format: () => {
        disk = newStateDisk();
      },
      appliedIn: (generation) => disk.generations.get(generation)?.applied ?? 0,
      boot: (generation, surroundings, ready: (host: ProgramHost) => void) =>
        ready(new SimHost(disk, generation, this.#hostWorld(node, surroundings))),
      ended: () => undefined,
    };
  }

  users(chance: Chance): Workload {
    const { nodes, plan, ghost, fail, now, at } = this.#world;
    const contents = new ContentChecks(ghost, fail);
    const onlookers = new Onlookers(nodes, new Chance(plan.seed ^ 0x1b873593), contents, { now, at });
    const workload = new Workload(nodes, plan.load, chance, {
      now,
      at,
      begun: () => onlookers.start(),
      acknowledged: (op, register, index) => onlookers.acknowledged(op, register, index),
      lost: (node) => onlookers.lost(node),
    });
    this.#audience = { contents, onlookers, workload };
    return workload;
  }

  registerOf(op: number): number {
    return this.#those.workload.registerOf(op);
  }

  recorded(node: SimNode, meta: CheckpointMeta): void {
    this.#those.contents.checkpoint(node.id, meta, this.#library.get(meta.sha256));
  }

  takeUnsettled(): boolean {
    return false;
  }

  touched(): void {}

  /** B18, B20, B21. */
  flawOfHistory(): readonly [string, string] | undefined {
    const log = this.#world.ghost.committed.map(({ op }) => op);
    const history = this.#those.workload.history;
    return flawOf(history, log, this.#world.plan.seed);
  }

  get #those(): Audience {
    if (this.#audience === undefined) throw new Error('the registers have no clients yet');
    return this.#audience;
  }

  #hostWorld(node: SimNode, surroundings: Surroundings): HostWorld {
    const { checks } = this.#world;
    const { workload, onlookers, contents } = this.#those;
    return {
      ...surroundings,
      operations: node.operations,
      registerOf: (op) => workload.registerOf(op),
      applying: (batch, state) => checks.applying(node, batch, state),
      applied: (state) => {
        checks.applied(node, state);
        workload.applied(node);
        onlookers.applied(node);
      },
      outcome: (id, outcome) => workload.outcome(node, id, outcome),
      readable: (id, index) => workload.readable(node, id, index),
      role: ({ role }) => {
        if (role === 'leader') workload.leads(node.slot);
      },
      writeCheckpoint: (state, done) => this.#writeCheckpoint(node, state, done),
      readCheckpoint: (meta) => (node.shelf.holds(meta) ? this.#library.get(meta.sha256) : undefined),
      adopted: (state) => contents.adopted(node.id, state),
    };
  }

  #writeCheckpoint(node: SimNode, state: MachineState, done: (meta: CheckpointImage | undefined) => void): void {
    if (!node.isUp || state.applied === 0) {
      done(undefined);
      return;
    }
    const { applied: index, term, time, hash } = state;
    const sha256 = `${hash.toString(16)}-${index}`;
    const size = this.#world.plan.tuning.checkpointSize;
    const later: Later = (ms, run) => node.later(ms, run);
    node.shelf.write({ index, term, sha256, size }, later, (file) => {
      this.#library.set(sha256, state);
      done({ index, term, time, file, size, sha256 });
    });
  }
}
