// Handle of the raft worker on the main thread: starts the thread, sends `alive`, answers requests by promises, and
// reports as fatal any end of the thread other than by `stop` (architecture.md §7, decision 22).
import type { Worker } from 'node:worker_threads';
import { contents } from '../../program/disk.ts';

import type { Index, LogPosition } from '../core/types.ts';
import type { MembershipChange, Outcome } from '../driver/driver-host.ts';
import {
  type Call,
  CallQueue,
  callerOf,
  type HostCalls,
  invoke,
  largeMemory,
  type NodeCalls,
  nodeCalls,
} from './bridge.ts';
import type { MemberHost } from './member-host.ts';
import type { RaftOptions } from './options.ts';
import { unpackBatch } from './packed-batch.ts';
import { packCalls, unpackCall } from './packed-calls.ts';
import type { MemberStatus } from './status.ts';

const stopWithinMs = 10_000;
/** Interval of `alive` from main. A leader whose main is silent for 5 s hands over. */
const aliveEveryMs = 250;
/**
 * Longest delay of a report of `applied`. Raft needs it for its credit and its checkpoints, neither of which is urgent;
 * without other calls to carry it, the report wakes a thread on each node.
 */
const appliedWithinMs = 25;
/** Entries that are not applied yet, with room for a burst. The rest of the heap stays small, for pauses of its collection are pauses of elections. */
const heapMiB = 512;
/** Small enough that what batches leave behind is collected there: it is memory outside of the heap, and much of it has all generations collected. */
const youngMiB = 12;

/** Reports of a program to its member that have no answer. */
export type NodeReports = Pick<
  NodeCalls,
  | 'applied'
  | 'checkpointWritten'
  | 'checkpointFailed'
  | 'installed'
  | 'installFailed'
  | 'stateWaits'
  | 'transfer'
  | 'condemn'
>;

/** Calls of the thread to its program. */
export type ThreadHost = Omit<MemberHost, 'outcome' | 'readable'>;

const cutOff: Outcome = { kind: 'unknown', why: 'stopping' };
const tooLate: Outcome = { kind: 'notApplied', why: 'stopped' };

/** Main's side of one member. */
export class RaftThread {
  readonly node: NodeReports;
  readonly #calls: NodeCalls;
  readonly #worker: Worker;
  readonly #host: ThreadHost;
  readonly #alive: NodeJS.Timeout;
  readonly #outcomes = new Map<number, (outcome: Outcome) => void>();
  readonly #reads = new Map<number, (index: Index | undefined) => void>();
  readonly #statuses = new Map<number, (status: MemberStatus | undefined) => void>();
  readonly #exited: Promise<void>;
  #id = 0;
  #ended = false;

  /**
   * Starts the thread. The first call back is `host.opened`, which `begin` follows, or `cannotListen`, or `fatal`. The
   * calls of `host` are its own properties.
   */
  constructor(options: RaftOptions, host: ThreadHost) {
    this.#host = host;
    this.#worker = contents.newThread('raft', {
      workerData: { options },
      name: 'raft',
      resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngMiB },
    });
    // After the poll phase: what many clients sent at the same time goes over together.
    const later = (run: () => void): void => void setTimeout(run, appliedWithinMs).unref();
    const post = (calls: readonly Call[]): void => {
      const packed = packCalls(calls);
      this.#worker.postMessage(packed, largeMemory(packed));
    };
    const queue = new CallQueue(post, setImmediate, later);
    this.#calls = callerOf<NodeCalls>(nodeCalls, queue.add);
    this.node = { ...this.#calls, applied: (index) => queue.addIdle(['applied', index]) };
    const answers = this.#answers();
    const take = (call: Call): void => invoke(answers, call);
    this.#worker.on('message', (calls: readonly Call[]) => {
      for (const call of calls) unpackCall(call, take);
    });
    this.#worker.on('error', (error) => this.#die(`raft worker: ${String(error)}`));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#die(`raft worker ended with code ${code}`);
        this.#cutOff();
        resolve();
      });
    });
    this.#alive = setInterval(() => this.#calls.alive(), aliveEveryMs);
  }

  /**
   * The host's state is open: its last applied entry (0/0 when empty; index above 0 with term 0 when it was written
   * before there was a log).
   */
  begin(applied: LogPosition): void {
    this.#calls.begin(applied);
  }

  /**
   * Proposes a command. Resolves once it is committed here, certainly not applied, or its outcome cannot be known. The
   * bytes must not change until then.
   */
  propose(payload: Uint8Array): Promise<Outcome> {
    return this.#ask(this.#outcomes, tooLate, (id) => this.#calls.propose(id, payload));
  }

  /** Ends once the change is committed, all of it (a joint step included) or none. */
  change(change: MembershipChange, options: { readonly force?: boolean } = {}): Promise<Outcome> {
    return this.#ask(this.#outcomes, tooLate, (id) => this.#calls.change(id, change, options));
  }

  /** An index that covers everything acknowledged before the call; undefined: not now. */
  read(): Promise<Index | undefined> {
    return this.#ask(this.#reads, undefined, (id) => this.#calls.read(id));
  }

  /** Undefined while the node belongs to no cluster, and after the end. */
  status(): Promise<MemberStatus | undefined> {
    return this.#ask(this.#statuses, undefined, (id) => this.#calls.status(id));
  }

  /** Hands leadership over, closes the log with its clean mark, and ends the thread; by force after 10 s. */
  async stop(): Promise<void> {
    this.#end();
    this.#calls.stop();
    const force = setTimeout(() => void this.#worker.terminate(), stopWithinMs);
    await this.#exited;
    clearTimeout(force);
  }

  /**
   * Sends a request to the worker and waits for its answer. After the end of the thread no request is sent: `none` is
   * the answer.
   */
  #ask<T>(waiting: Map<number, (answer: T) => void>, none: T, ask: (id: number) => void): Promise<T> {
    if (this.#ended) return Promise.resolve(none);
    const id = ++this.#id;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      ask(id);
    });
  }

  /** Returns the handlers of calls from the worker: those of the host, and those that answer requests. */
  #answers(): HostCalls {
    return {
      ...this.#host,
      committed: (batch) => this.#host.committed(unpackBatch(batch)),
      outcome: (id, outcome) => answer(this.#outcomes, id, outcome),
      readable: (id, index) => answer(this.#reads, id, index),
      status: (id, status) => answer(this.#statuses, id, status),
      cannotListen: (code) => {
        this.#end();
        this.#host.cannotListen(code);
      },
      fatal: (reason) => this.#die(reason),
      stopped: () => undefined,
    };
  }

  /** After a fatal the thread stays until `stop`: it may still hold the lock of the database. */
  #die(reason: string): void {
    if (this.#ended) return;
    this.#end();
    this.#host.fatal(reason);
    this.#cutOff();
  }

  #end(): void {
    this.#ended = true;
    clearInterval(this.#alive);
    endAll(this.#statuses, undefined);
  }

  /** Ends contact: no message of the worker follows. */
  #cutOff(): void {
    endAll(this.#outcomes, cutOff);
    endAll(this.#reads, undefined);
  }
}

function answer<T>(waiting: Map<number, (answer: T) => void>, id: number, what: T): void {
  waiting.get(id)?.(what);
  waiting.delete(id);
}

function endAll<T>(waiting: Map<number, (answer: T) => void>, none: T): void {
  for (const end of waiting.values()) end(none);
  waiting.clear();
}
