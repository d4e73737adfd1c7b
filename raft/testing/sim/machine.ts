// A machine as the program above raft has it, the processes that run on it, and what the simulator gives each of them.
import type { Index } from '../../core/types.ts';
import type { Clock } from '../../driver/driver-clock.ts';
import type { Host, RaftNode } from '../../driver/driver-host.ts';

/** Surroundings of one process of the program. */
export interface Surroundings {
  /** Runs `run` after `ms`, unless the process has ended; `ms` grows while the program is stalled. */
  later(ms: number, run: () => void): void;
  readonly clock: Clock;
  /** Returns how long the next apply takes. */
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
  /** Address of the program for its clients; part of the configuration. */
  readonly clientAddress: string;
  /** Empties the disks. */
  format(): void;
  /** Returns the applied index of the state in this generation. */
  appliedIn(generation: number): Index;
  /** Starts a process; `ready` is called once it knows its state, if it comes so far. */
  boot(generation: number, surroundings: Surroundings, ready: (host: ProgramHost) => void): void;
  /** The process is gone, at this moment. */
  ended(): void;
}
