// The raft worker as the main thread holds it: starts the thread, says `alive`, turns messages into calls of the host,
// and reports as fatal whatever ends the thread otherwise than by `stop` (architecture.md §7, decision 22).
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

import type { Index, Term } from '../core/types.ts';
import type { RaftNode } from './host.ts';
import type { MemberHost } from './member-host.ts';
import type { RaftOptions } from './options.ts';
import { aliveEveryMs, type FromRaft, nodeOver, type ToRaft } from './rpc.ts';
import type { MemberStatus } from './status.ts';

const stopWithinMs = 10_000;
/** Entries that are not applied yet, with room for a burst. The rest of the heap stays small, for pauses of its collection are pauses of elections. */
const heapMiB = 512;

/** Main's side of one member. Calls go out as messages; what comes back arrives at the host. */
export class RaftThread implements Omit<RaftNode, 'stop'> {
  readonly propose: RaftNode['propose'];
  readonly change: RaftNode['change'];
  readonly read: RaftNode['read'];
  readonly applied: RaftNode['applied'];
  readonly checkpointWritten: RaftNode['checkpointWritten'];
  readonly checkpointFailed: RaftNode['checkpointFailed'];
  readonly installed: RaftNode['installed'];
  readonly installFailed: RaftNode['installFailed'];
  readonly transfer: RaftNode['transfer'];
  readonly alive: RaftNode['alive'];
  readonly condemn: RaftNode['condemn'];
  readonly #worker: Worker;
  readonly #host: MemberHost;
  readonly #alive: NodeJS.Timeout;
  readonly #statuses = new Map<number, (status: MemberStatus | undefined) => void>();
  readonly #exited: Promise<void>;
  #nextStatus = 1;
  #ended = false;

  /** Starts the thread. The first call back is `host.opened`, which `begin` follows, or `cannotListen`, or
   * `fatal`. */
  constructor(options: RaftOptions, host: MemberHost) {
    this.#host = host;
    const entry = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(entry, {
      workerData: { options },
      name: 'raft',
      resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 64 },
    });
    const node = nodeOver((message, handOver) => this.#worker.postMessage(message, handOver));
    this.propose = node.propose;
    this.change = node.change;
    this.read = node.read;
    this.applied = node.applied;
    this.checkpointWritten = node.checkpointWritten;
    this.checkpointFailed = node.checkpointFailed;
    this.installed = node.installed;
    this.installFailed = node.installFailed;
    this.transfer = node.transfer;
    this.alive = node.alive;
    this.condemn = node.condemn;
    this.#worker.on('message', (message: FromRaft) => this.#take(message));
    this.#worker.on('error', (error) => this.#die(`raft worker: ${String(error)}`));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#die(`raft worker ended with code ${code}`);
        resolve();
      });
    });
    this.#alive = setInterval(() => this.alive(), aliveEveryMs);
  }

  /**
   * The host's state is open: its last applied entry (0/0 when empty; index above 0 with term 0 when it was written
   * before there was a log).
   */
  begin(applied: Index, term: Term): void {
    this.#post({ type: 'open', applied, term });
  }

  /** Undefined while the node belongs to no cluster, and after the end. */
  status(): Promise<MemberStatus | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    const id = this.#nextStatus++;
    return new Promise((resolve) => {
      this.#statuses.set(id, resolve);
      this.#post({ type: 'status', id });
    });
  }

  /** Hands leadership over, closes the log with its clean mark, and ends the thread; by force after 10 s. */
  async stop(): Promise<void> {
    this.#end();
    this.#post({ type: 'stop' });
    const force = setTimeout(() => void this.#worker.terminate(), stopWithinMs);
    await this.#exited;
    clearTimeout(force);
  }

  #post(message: ToRaft): void {
    this.#worker.postMessage(message);
  }

  #take(message: FromRaft): void {
    const host = this.#host;
    switch (message.type) {
      case 'opened':
        host.opened(message.report);
        break;
      case 'cannotListen':
        this.#end();
        host.cannotListen(message.code);
        break;
      case 'committed':
        host.committed(message.batch);
        break;
      case 'outcome':
        host.outcome(message.id, message.outcome);
        break;
      case 'readable':
        host.readable(message.id, message.index);
        break;
      case 'role':
        host.role(message.report);
        break;
      case 'makeCheckpoint':
        host.makeCheckpoint();
        break;
      case 'install':
        host.install(message.meta);
        break;
      case 'adopt':
        host.adopt(message.generation, message.index);
        break;
      case 'discard':
        host.discard(message.generation);
        break;
      case 'status':
        this.#answerStatus(message.id, message.status);
        break;
      case 'notice':
        host.notice(message.text);
        break;
      case 'detail':
        host.detail?.(message.text);
        break;
      case 'fatal':
        this.#die(message.reason);
        break;
      case 'stopped':
        break;
    }
  }

  #answerStatus(id: number, status: MemberStatus | undefined): void {
    this.#statuses.get(id)?.(status);
    this.#statuses.delete(id);
  }

  /** After a fatal the thread stays until `stop`: it may still hold the lock of the database. */
  #die(reason: string): void {
    if (this.#ended) return;
    this.#end();
    this.#host.fatal(reason);
  }

  #end(): void {
    this.#ended = true;
    clearInterval(this.#alive);
    for (const answer of this.#statuses.values()) answer(undefined);
    this.#statuses.clear();
  }
}
