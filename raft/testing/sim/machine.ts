// A machine as the program above raft has it, the processes that run on it, and what the simulator gives each of them.
import type { Index } from '../../core/types.ts';
import type { Clock } from '../../driver/clock.ts';
import type { Host, RaftNode } from '../../driver/driver-host.ts';

/** What one process of the program is given. */
export interface Surroundings {
  /** Runs `run` after `ms`, unless the process has ended; `ms` grows while the program is stalled. */
  later(ms: number, run: () => void): void;
  readonly clock: Clock;
  /** How long an apply takes this time. */
  applyMs(): number;
  /** The process ends itself. */
  fatal(reason: string): void;
}

/** A process of the program, as raft and the checkers see it. */
export interface ProgramHost extends Host {
  readonly applied: Index;
  attach(node: RaftNode): void;
  /** Ends its own work before raft stops, and calls `then`. */
  stopping(then: () => void): void;
}

/** One machine: disks of the program that outlive its processes. */
export interface Machine {
  /** Where its users reach it; part of the configuration. */
  readonly clientAddress: string;
  /** Empties the disks. */
  format(): void;
  /** Of the state in this generation. */
  appliedIn(generation: number): Index;
  /** Starts a process; `ready` is called once it knows its state, if it comes so far. */
  boot(generation: number, surroundings: Surroundings, ready: (host: ProgramHost) => void): void;
  /** The process is gone, at this moment. */
  ended(): void;
}
