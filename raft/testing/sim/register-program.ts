// The simulator's own program: registers on a state disk whose writes are atomic and synced.
import type { CheckpointMeta } from '../../core/types.ts';
import { checkRevisionOrder } from '../history/revision-order.ts';
import { firstPart, searchOrder } from '../history/search.ts';
import type { Chance } from './chance.ts';
import type { Machine, ProgramHost, Surroundings } from './machine.ts';
import type { Program, ProgramWorld } from './program.ts';
import { type HostWorld, newStateDisk, SimHost } from './sim-host.ts';
import type { SimNode } from './sim-node.ts';
import { copyState, decodeOp, type MachineState } from './state-machine.ts';
import { Workload } from './workload.ts';

export class RegisterProgram implements Program {
  readonly lingerMs = 0;
  readonly opOf = decodeOp;
  readonly #world: ProgramWorld;
  /** Content of every checkpoint file by its hash. */
  readonly #library = new Map<string, MachineState>();
  #workload: Workload | undefined;

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
    const { nodes, plan, now, at } = this.#world;
    this.#workload = new Workload(nodes, plan.load, chance, { now, at });
    return this.#workload;
  }

  takeUnsettled(): boolean {
    return false;
  }

  touched(): void {}

  /** B18, B20, B21. */
  flawOfHistory(): readonly [string, string] | undefined {
    const log = this.#world.ghost.committed.map(({ op }) => op);
    const history = this.#workload?.history ?? [];
    const [problem] = checkRevisionOrder(history, log);
    if (problem !== undefined) return ['B21', problem];
    const isSearched = this.#world.plan.seed % 20 === 0;
    if (isSearched && searchOrder(firstPart(history)) === 'not linearizable')
      return ['B21', 'no order of the operations explains the answers'];
    return undefined;
  }

  #hostWorld(node: SimNode, surroundings: Surroundings): HostWorld {
    const { checks } = this.#world;
    const workload = this.#workload;
    if (workload === undefined) throw new Error('nobody uses the registers yet');
    return {
      ...surroundings,
      registerOf: (op) => workload.registerOf(op),
      applying: (batch, state) => checks.applying(node, batch, state),
      applied: (state) => {
        checks.applied(node, state);
        workload.applied(node);
      },
      outcome: (id, outcome) => workload.outcome(node, id, outcome),
      readable: (id, index) => workload.readable(node, id, index),
      role: ({ role }) => {
        if (role === 'leader') workload.leads(node.slot);
      },
      writeCheckpoint: (state) => this.#writeCheckpoint(node, state),
      readCheckpoint: (meta: CheckpointMeta) => this.#library.get(meta.sha256),
      installed: () => undefined,
    };
  }

  #writeCheckpoint(node: SimNode, state: MachineState) {
    if (!node.isUp || state.applied === 0) return undefined;
    const { applied: index, term, time, hash } = state;
    const sha256 = `${hash.toString(16)}-${index}`;
    const size = this.#world.plan.tuning.checkpointSize;
    const file = `written-${index}`;
    node.shelf.files.set(file, { sha256, size });
    this.#library.set(sha256, copyState(state));
    return { index, term, time, file, size, sha256 };
  }
}
