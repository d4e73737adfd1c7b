// The border between the main thread and the raft worker: calls of `NodeCalls` one way, calls of
// `HostCalls` the other. Both ends are made from one list of names each. Calls of one turn of the event loop cross
// together, for what costs on this way is waking the other thread.
import type { LogPosition } from '../core/types.ts';
import type { RaftNode } from '../driver/driver-host.ts';
import type { MemberHost } from './member-host.ts';
import type { PackedBatch } from './packed-batch.ts';
import type { MemberStatus } from './status.ts';

/** Calls of main to the member in its worker. */
export interface NodeCalls extends Omit<RaftNode, 'stop'> {
  begin(applied: LogPosition): void;
  /** Reports that the program above cannot write its state for the time being, or can again; a leader that cannot hands over. */
  stateWaits(waits: boolean): void;
  /** Answered by `HostCalls.status`. */
  status(id: number): void;
  /** Answered by `HostCalls.stopped`. */
  stop(): void;
}

/** Calls of the member to main. */
export interface HostCalls extends Omit<MemberHost, 'committed'> {
  committed(batch: PackedBatch): void;
  status(id: number, status: MemberStatus | undefined): void;
  stopped(): void;
}

type Names<T> = { readonly [name in keyof T]-?: true };

export const nodeCalls: Names<NodeCalls> = {
  begin: true,
  stateWaits: true,
  propose: true,
  change: true,
  read: true,
  applied: true,
  checkpointWritten: true,
  checkpointFailed: true,
  installed: true,
  installFailed: true,
  transfer: true,
  alive: true,
  condemn: true,
  status: true,
  stop: true,
};

export const hostCalls: Names<HostCalls> = {
  opened: true,
  cannotListen: true,
  committed: true,
  outcome: true,
  readable: true,
  role: true,
  makeCheckpoint: true,
  install: true,
  adopt: true,
  discard: true,
  notice: true,
  warning: true,
  removed: true,
  detail: true,
  disk: true,
  fatal: true,
  status: true,
  stopped: true,
};

/** One call: a name of the list, and its arguments as structured clones. */
export type Call = readonly [name: string, ...args: unknown[]];

/** Something whose every method passes the call on. */
export function callerOf<T>(names: Names<T>, pass: (call: Call) => void): T {
  const caller: Record<string, (...args: unknown[]) => void> = {};
  for (const name of Object.keys(names)) caller[name] = (...args) => pass([name, ...args]);
  return caller as T;
}

/** Below this a copy costs less than handing memory over. */
const handedOverBytes = 64 * 1024;

/**
 * Returns the memory of large commands among the calls: it is transferred without a copy, and the caller uses it no
 * more.
 */
export function largeMemory(calls: readonly Call[]): ArrayBuffer[] {
  const memory: ArrayBuffer[] = [];
  for (const [name, first, second] of calls) {
    const isProposed = name === 'propose' || name === 'proposals';
    const bytes = isProposed ? second : name === 'committed' ? (first as PackedBatch).payloads : undefined;
    if (!(bytes instanceof Uint8Array) || bytes.length < handedOverBytes) continue;
    const { buffer } = bytes;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) memory.push(buffer);
  }
  return memory;
}

/** Carries out one call that crossed. */
export function invoke<T>(target: T, [name, ...args]: Call): void {
  const methods = target as Record<string, (...args: unknown[]) => void>;
  methods[name]?.(...args);
}

/** Queue of the calls of one turn; `soon` signals the end of the turn. */
export class CallQueue {
  readonly #post: (calls: readonly Call[]) => void;
  readonly #soon: (run: () => void) => void;
  readonly #later: (run: () => void) => void;
  #calls: Call[] = [];
  #idle: Call | undefined;
  #isLaterPlanned = false;

  /** `later` runs something a few milliseconds from now. */
  constructor(
    post: (calls: readonly Call[]) => void,
    soon: (run: () => void) => void,
    later: (run: () => void) => void = soon,
  ) {
    this.#post = post;
    this.#soon = soon;
    this.#later = later;
  }

  readonly add = (call: Call): void => {
    if (this.#calls.push(call) === 1) this.#soon(() => this.#send());
  };

  /**
   * Adds a call that supersedes the one before it and wakes no thread: it goes with the next call, or a little later.
   */
  readonly addIdle = (call: Call): void => {
    this.#idle = call;
    if (this.#isLaterPlanned) return;
    this.#isLaterPlanned = true;
    this.#later(() => {
      this.#isLaterPlanned = false;
      if (this.#idle !== undefined) this.#send();
    });
  };

  #send(): void {
    const calls = this.#idle === undefined ? this.#calls : [this.#idle, ...this.#calls];
    this.#idle = undefined;
    this.#calls = [];
    if (calls.length > 0) this.#post(calls);
  }
}
