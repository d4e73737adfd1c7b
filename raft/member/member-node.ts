// Node of a member as the program above calls it at any time: the driver, once there is one; before and without it all
// calls are refused. Two guards stand before the driver: a disk that fills up takes no proposals, and a checkpoint is
// read once more before the log relies on it (raft.md P10).
import { join } from 'node:path';

import type { Index } from '../core/types.ts';
import type { CheckpointImage, RaftNode } from '../driver/driver-host.ts';
import { verifyCheckpoint } from '../store/checkpoint-files.ts';
import { callerOf, invoke, type NodeCalls, nodeCalls } from './bridge.ts';
import type { MemberHost } from './member-host.ts';

export interface MemberNodeParts {
  readonly host: Pick<MemberHost, 'outcome' | 'readable' | 'makeCheckpoint' | 'warning'>;
  readonly checkpointDirectory: string;
  readonly isDiskFull: () => boolean;
}

/** Calls that are answered while there is no driver; the other calls do nothing yet. */
type Absent = Pick<RaftNode, 'propose' | 'change' | 'read'>;

export class MemberNode {
  /** Passes on what no guard looks at. */
  readonly calls: Omit<NodeCalls, 'begin' | 'stateWaits' | 'status' | 'stop'>;
  readonly #parts: MemberNodeParts;
  readonly #absent: Absent;
  #driver: RaftNode | undefined;
  #checkpointAfter: Index | undefined;

  constructor(parts: MemberNodeParts) {
    const { host } = parts;
    this.#parts = parts;
    this.#absent = {
      propose: (id) => host.outcome(id, { kind: 'notApplied', why: 'not leader' }),
      change: (id) => host.outcome(id, { kind: 'notApplied', why: 'not leader' }),
      read: (id) => host.readable(id, undefined),
    };
    this.calls = {
      ...callerOf<NodeCalls>(nodeCalls, (call) => invoke(this.#node, call)),
      propose: (id, payload) => this.#propose(id, payload),
      applied: (index) => this.#applied(index),
      checkpointWritten: (image) => this.#checkpointWritten(image),
    };
  }

  get #node(): RaftNode | Absent {
    return this.#driver ?? this.#absent;
  }

  /**
   * Attaches the driver. With `checkpointAfter` the log begins behind a checkpoint whose file is damaged, or never was
   * (a state from before raft). No node could catch up from there, so a checkpoint is made as soon as the state is past
   * that position.
   */
  attach(driver: RaftNode, checkpointAfter: Index | undefined): void {
    this.#driver = driver;
    this.#checkpointAfter = checkpointAfter;
  }

  /** The newest checkpoint, at `index`, was found damaged: another one is made as soon as the state is past it. */
  checkpointLost(index: Index, applied: Index): void {
    this.#checkpointAfter = index;
    this.#replaceCheckpoint(applied);
  }

  #propose(id: number, payload: Uint8Array): void {
    if (this.#driver !== undefined && this.#parts.isDiskFull())
      this.#parts.host.outcome(id, { kind: 'notApplied', why: 'disk full' });
    else this.#node.propose(id, payload);
  }

  #applied(index: Index): void {
    this.#driver?.applied(index);
    this.#replaceCheckpoint(index);
  }

  #replaceCheckpoint(applied: Index): void {
    if (this.#checkpointAfter === undefined || applied <= this.#checkpointAfter) return;
    this.#checkpointAfter = undefined;
    this.#parts.host.makeCheckpoint();
  }

  #checkpointWritten(image: CheckpointImage): void {
    const { checkpointDirectory, host } = this.#parts;
    verifyCheckpoint(join(checkpointDirectory, image.file), image).then(
      () => invoke(this.#node, ['checkpointWritten', image]),
      (error: unknown) => {
        host.warning(`checkpoint at ${image.index}: ${String(error)}`);
        invoke(this.#node, ['checkpointFailed']);
      },
    );
  }
}
