// Log of this node: the raft worker, reached by messages. With no `raft` section it is a cluster of one on the same
// path. Checkpoints pass through here to the keeper of the generations of the state.
import type { DiskProblem } from '../../../disk/disk-problem.ts';
import {
  type CheckpointMeta,
  type LogAsItIs,
  type LogBeginning,
  type MemberId,
  type MemberStatus,
  type MembershipChange,
  type NodeReports,
  type Notices,
  type OpenedReport,
  type Outcome,
  type RaftOptions,
  RaftThread,
  type RoleReport,
  type ThreadHost,
} from '../../../raft/index.ts';
import type { Cluster } from '../members/cluster.ts';
import { type FromLog, fatalMessage, type LogPort, roleMessage } from './log-port.ts';

/**
 * Writer of checkpoints of the state, and builder of states from them. Each request is answered by one call of
 * `RaftLog.node`.
 */
export interface CheckpointKeeper {
  /** → `checkpointWritten` or `checkpointFailed` */
  make(): void;
  /** → `installed` or `installFailed` */
  install(meta: CheckpointMeta): void;
  discard(generation: number): void;
}

export interface RaftLogOptions {
  readonly raft: RaftOptions;
  readonly notices: Notices;
  /** Reports a detail for debugging. */
  readonly detail?: ((text: string) => void) | undefined;
}

export interface StateAtStart {
  readonly applied: number;
  /** Term of the entry at `applied`; 0 when the state was written before there was a log. */
  readonly term: number;
}

export class RaftLog implements LogPort, Cluster {
  readonly clustered: boolean;
  /** Reports to raft that have no answer: checkpoints, installations, a wrong state of this node. */
  readonly node: NodeReports;
  readonly #options: RaftLogOptions;
  readonly #asItIs: LogAsItIs | undefined;
  /** Undefined while the log cannot be opened. */
  #thread: RaftThread | undefined;
  #problem: DiskProblem | undefined;
  readonly #roles = new Set<(report: RoleReport) => void>();
  readonly #removals = new Set<(reason: string) => void>();
  readonly #failures = new Set<(reason: string) => void>();
  readonly #waiting = new Set<(problem: DiskProblem | undefined) => void>();
  #receiver: (message: FromLog) => void = () => undefined;
  #keeper: CheckpointKeeper | undefined;
  #opened: OpenedReport | undefined;
  #clusterId: string | undefined;
  #failed: string | undefined;
  #removed: string | undefined;
  #stopped: Promise<void> | undefined;

  private constructor(options: RaftLogOptions, asItIs?: LogAsItIs) {
    this.clustered = options.raft.cluster !== undefined;
    this.#options = options;
    this.#asItIs = asItIs;
    this.#clusterId = asItIs?.clusterId;
    const node = (): NodeReports | undefined => this.#thread?.node;
    this.node = {
      applied: (index) => node()?.applied(index),
      checkpointWritten: (image) => node()?.checkpointWritten(image),
      checkpointFailed: () => node()?.checkpointFailed(),
      installed: (generation, index) => node()?.installed(generation, index),
      installFailed: (index) => node()?.installFailed(index),
      stateWaits: (waits) => node()?.stateWaits(waits),
      transfer: (to) => node()?.transfer(to),
      condemn: (reason) => node()?.condemn(reason),
    };
  }

  /** Starts the worker; resolves when the log is read. Rejects when it cannot be used, with `CannotListen` for `bindAddress`. */
  static async open(options: RaftLogOptions): Promise<RaftLog> {
    const log = new RaftLog(options);
    await log.open();
    return log;
  }

  /** A log on a disk that takes no byte. It refuses everything, with the reason, until `open` and `begin`. */
  static absent(options: RaftLogOptions, asItIs: LogAsItIs, problem: DiskProblem): RaftLog {
    const log = new RaftLog(options, asItIs);
    log.#problem = problem;
    return log;
  }

  /** Starts the worker of a log that has none. Resolves and rejects as the function of the class. */
  open(): Promise<void> {
    const { raft, notices, detail } = this.#options;
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void => void this.close().then(() => reject(error));
      this.#thread = new RaftThread(raft, this.#host({ opened: resolve, failed }, notices, detail));
    });
  }

  /** Ends the worker; `open` may start another. */
  async close(): Promise<void> {
    const thread = this.#thread;
    await thread?.stop();
    this.#thread = undefined;
    this.#opened = undefined;
  }

  /** The log cannot be written for the time being; undefined: it can again. */
  tell(problem: DiskProblem | undefined): void {
    this.#problem = problem;
    this.#receiver({ type: 'disk', problem });
    for (const subscriber of this.#waiting) subscriber(problem);
  }

  /** Generation of the state that counts. */
  get generation(): number {
    return (this.#opened ?? this.#asItIs)?.generation ?? 1;
  }

  get clusterId(): string | undefined {
    return this.#clusterId;
  }

  /** Why the log takes no part any more. */
  get failed(): string | undefined {
    return this.#failed;
  }

  /** Calls `subscriber` once, when the log ends by itself. */
  onFailure(subscriber: (reason: string) => void): void {
    this.#failures.add(subscriber);
  }

  /** Calls `subscriber` whenever role, leader or members of this node change. */
  onRole(subscriber: (report: RoleReport) => void): void {
    this.#roles.add(subscriber);
  }

  /** Calls `subscriber` once, when this node learns that it is no member any more; at once where it knows already. */
  onRemoved(subscriber: (reason: string) => void): void {
    if (this.#removed !== undefined) subscriber(this.#removed);
    else this.#removals.add(subscriber);
  }

  /** Calls `subscriber` with why the log cannot be written for the time being, and with undefined when it can again. */
  onWaits(subscriber: (problem: DiskProblem | undefined) => void): void {
    this.#waiting.add(subscriber);
  }

  /** Index of the last entry in the log when it was opened. */
  get lastIndex(): number {
    return (this.#opened ?? this.#asItIs)?.lastIndex ?? 0;
  }

  /** Beginning of the log of this node's cluster; undefined without one, and where it may have lost something. */
  get beginning(): LogBeginning | undefined {
    if (this.#opened?.clusterId === undefined || this.#opened.verdict.kind !== 'clean') return undefined;
    const { base, checkpoint } = this.#opened;
    return { base, checkpoint };
  }

  /**
   * From here on this node votes and follows. A state without its log is refused in a cluster, for what was acknowledged
   * after it cannot be known. Alone, what was acknowledged is in the state, but for the last moments before a crash, and a
   * new log begins behind it.
   */
  begin({ applied, term }: StateAtStart, keeper: CheckpointKeeper): void {
    this.#keeper = keeper;
    const hasLog = this.#opened?.clusterId !== undefined;
    if (!hasLog && term > 0 && this.clustered) {
      throw new Error(
        `the state ends at index ${applied} of a log that is gone; restore a backup or replace this node`,
      );
    }
    // The log that took over a state from before it names that state's last index with term 1.
    this.#thread?.begin({ index: applied, term: hasLog && applied > 0 && term === 0 ? 1 : term });
  }

  receive(receiver: (message: FromLog) => void): void {
    this.#receiver = receiver;
    if (this.#problem !== undefined) this.#receiver({ type: 'disk', problem: this.#problem });
  }

  propose(bytes: Uint8Array, ended: (outcome: Outcome) => void): void {
    const proposed = this.#thread?.propose(bytes) ?? Promise.resolve<Outcome>({ kind: 'notApplied', why: 'disk late' });
    void proposed.then(ended);
  }

  read(answered: (index: number | undefined) => void): void {
    const read = this.#thread?.read() ?? Promise.resolve(undefined);
    void read.then(answered);
  }

  applied(index: number): void {
    this.node.applied(index);
  }

  status(): Promise<MemberStatus | undefined> {
    return this.#thread?.status() ?? Promise.resolve(undefined);
  }

  change(change: MembershipChange, options: { readonly force?: boolean } = {}): Promise<Outcome> {
    return this.#thread?.change(change, options) ?? Promise.resolve({ kind: 'notApplied', why: 'disk late' });
  }

  transfer(to: MemberId | undefined): void {
    this.node.transfer(to);
  }

  /** Hands leadership over and leaves the mark of a clean stop. May be called again. */
  stop(): Promise<void> {
    this.#stopped ??= this.#thread?.stop() ?? Promise.resolve();
    return this.#stopped;
  }

  #host(opening: Opening, notices: Notices, detail?: (text: string) => void): ThreadHost {
    return {
      opened: (report) => {
        this.#opened = report;
        this.#clusterId = report.clusterId;
        opening.opened();
      },
      cannotListen: (code) => opening.failed(new CannotListen(code)),
      committed: (batch) => this.#receiver({ type: 'committed', batch }),
      role: (report) => void this.#report(report),
      makeCheckpoint: () => this.#keeper?.make(),
      install: (meta) => this.#keeper?.install(meta),
      adopt: (generation, index) => this.#receiver({ type: 'adopt', generation, index }),
      discard: (generation) => this.#keeper?.discard(generation),
      notice: (text) => notices.notice(text),
      warning: (text) => notices.warning(text),
      ...(detail !== undefined && { detail }),
      removed: (reason) => {
        this.#removed = reason;
        this.#receiver({ type: 'removed', reason });
        for (const subscriber of this.#removals) subscriber(reason);
      },
      disk: (problem) => this.tell(problem),
      fatal: (reason) => {
        if (this.#opened === undefined) {
          opening.failed(new Error(reason));
          return;
        }
        this.#failed = reason;
        this.#receiver(fatalMessage(reason));
        for (const subscriber of this.#failures) subscriber(reason);
      },
    };
  }

  async #report(report: RoleReport): Promise<void> {
    this.#receiver(roleMessage(report));
    for (const subscriber of this.#roles) subscriber(report);
    this.#clusterId ??= (await this.status())?.clusterId;
  }
}

interface Opening {
  readonly opened: () => void;
  readonly failed: (error: Error) => void;
}

/** The address where the other nodes reach this one cannot be listened on. */
export class CannotListen extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}
