// What the program above may ask of a member at any time: the driver, once there is one; before and without it
// everything is refused. Two guards stand before the driver: a disk that fills up takes no proposals, and a
// checkpoint is read once more before the log relies on it (raft.md P10).
import { join } from 'node:path';

import type { Index, MemberId } from '../core/types.ts';
import type { CheckpointImage, MembershipChange, RaftNode, Refusal } from '../driver/host.ts';
import { verifyCheckpoint } from '../store/checkpoint-files.ts';
import type { MemberHost } from './member-host.ts';

export interface MemberNodeParts {
  readonly host: Pick<MemberHost, 'outcome' | 'readable' | 'makeCheckpoint' | 'notice'>;
  readonly checkpointDirectory: string;
  readonly isDiskFull: () => boolean;
}

export class MemberNode implements Omit<RaftNode, 'stop'> {
  readonly #parts: MemberNodeParts;
  #driver: RaftNode | undefined;
  #checkpointAfter: Index | undefined;

  constructor(parts: MemberNodeParts) {
    this.#parts = parts;
  }

  /**
   * With `checkpointAfter` the log begins behind a checkpoint whose file is damaged, or never was (a state from before
   * raft). Nobody could catch up from there, so one is made as soon as the state is past that position.
   */
  attach(driver: RaftNode, checkpointAfter: Index | undefined): void {
    this.#driver = driver;
    this.#checkpointAfter = checkpointAfter;
  }

  propose(id: number, payload: Uint8Array): void {
    if (this.#driver === undefined) this.#refuse(id, 'not leader');
    else if (this.#parts.isDiskFull()) this.#refuse(id, 'disk full');
    else this.#driver.propose(id, payload);
  }

  change(id: number, change: MembershipChange, options?: { readonly force?: boolean }): void {
    if (this.#driver === undefined) this.#refuse(id, 'not leader');
    else this.#driver.change(id, change, options);
  }

  read(id: number): void {
    if (this.#driver === undefined) this.#parts.host.readable(id, undefined);
    else this.#driver.read(id);
  }

  applied(index: Index): void {
    this.#driver?.applied(index);
    this.#replaceCheckpoint(index);
  }

  /** The newest checkpoint, at `index`, was found damaged: another one is made as soon as the state is past it. */
  checkpointLost(index: Index, applied: Index): void {
    this.#checkpointAfter = index;
    this.#replaceCheckpoint(applied);
  }

  #replaceCheckpoint(applied: Index): void {
    if (this.#checkpointAfter === undefined || applied <= this.#checkpointAfter) return;
    this.#checkpointAfter = undefined;
    this.#parts.host.makeCheckpoint();
  }

  checkpointWritten(image: CheckpointImage): void {
    verifyCheckpoint(join(this.#parts.checkpointDirectory, image.file), image).then(
      () => this.#driver?.checkpointWritten(image),
      (error: unknown) => {
        this.#parts.host.notice(`checkpoint at ${image.index}: ${String(error)}`);
        this.#driver?.checkpointFailed();
      },
    );
  }

  checkpointFailed(): void {
    this.#driver?.checkpointFailed();
  }

  installed(generation: number, index: Index): void {
    this.#driver?.installed(generation, index);
  }

  installFailed(index: Index): void {
    this.#driver?.installFailed(index);
  }

  transfer(to: MemberId | undefined): void {
    this.#driver?.transfer(to);
  }

  alive(): void {
    this.#driver?.alive();
  }

  condemn(reason: string): void {
    this.#driver?.condemn(reason);
  }

  #refuse(id: number, why: Refusal): void {
    this.#parts.host.outcome(id, { kind: 'notApplied', why });
  }
}
