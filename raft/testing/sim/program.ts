// Program above raft on the machines of a simulated cluster, and its clients. The simulator has a program of its own,
// registers; a real state machine takes the same place.
import type { CheckpointMeta } from '../../core/types.ts';
import type { Chance } from './chance.ts';
import type { Checks } from './checks.ts';
import type { Commands, Ghost } from './ghost.ts';
import type { Machine } from './machine.ts';
import type { SimNetwork } from './network.ts';
import type { Plan } from './plan.ts';
import type { SimNode } from './sim-node.ts';
import type { Fail } from './violation.ts';

/** The world as a program and its users find it. */
export interface ProgramWorld {
  readonly plan: Plan;
  readonly nodes: readonly SimNode[];
  readonly network: SimNetwork;
  readonly ghost: Ghost;
  readonly checks: Checks;
  readonly fail: Fail;
  now(): number;
  /** Plans an event of this slot, or of the world when it is -1. */
  at(time: number, slot: number, run: () => void): void;
  /** Takes two numbers into the hash over everything that happens. */
  note(a: number, b: number): void;
}

export interface Users {
  /** Operations under way. */
  readonly openCount: number;
  readonly acknowledged: number;
  /** Time of the last acknowledged write. */
  readonly lastAckedAt: number;
  start(): void;
  /** From now on what is well must serve. */
  settle(well: readonly SimNode[]): void;
  /** Begins nothing any more. */
  stop(): void;
  /** Notes that the process there ended: no answer will come. */
  lost(node: SimNode): void;
}

export interface Program extends Commands {
  /** A process that ended itself is seen for so long before it is gone. */
  readonly lingerMs: number;
  machine(node: SimNode): Machine;
  /** Called once, when the nodes are there. */
  users(chance: Chance): Users;
  /** The log of this node names a checkpoint now. */
  recorded(node: SimNode, meta: CheckpointMeta): void;
  /** True once after code ran whose promises have to come to rest before anything else happens. */
  takeUnsettled(): boolean;
  /** After each event of this node. */
  touched(node: SimNode): void;
  /** The rule that the history breaks, and how. At the end. */
  flawOfHistory(): readonly [rule: string, detail: string] | undefined;
}

export type MakeProgram = (world: ProgramWorld) => Program;
