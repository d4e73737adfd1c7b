// Everything that one machine does to its disks, counted through all its lives: log, checkpoint files, state, and the
// record of a start. Power can be lost around any one of them.

export type DiskOperation =
  | 'start'
  | 'log'
  | 'state'
  | 'create'
  | 'write'
  | 'sync'
  | 'rename'
  | 'syncDirectory'
  | 'remove';

/** `before`: nothing of the operation is on disk; `after`: all of it, and its caller got no answer. */
export type CrashMoment = 'before' | 'after';

export class DiskOperations {
  readonly counts = new Map<DiskOperation, number>();
  #count = 0;
  #crashPoint: { readonly operation: number; readonly when: CrashMoment; readonly cutPower: () => void } | undefined;
  #isOff = false;

  /** `cutPower` is called around operation number `operation`, counted from 1. */
  crashAt(operation: number, when: CrashMoment, cutPower: () => void): void {
    this.#crashPoint = { operation, when, cutPower };
  }

  disarm(): void {
    this.#crashPoint = undefined;
  }

  powerIsBack(): void {
    this.#isOff = false;
  }

  /** Performs an operation. False when the power failed: the process that asked for it is gone. */
  perform(kind: DiskOperation, land: () => void): boolean {
    if (this.#isOff) return false;
    this.#count += 1;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    const crashPoint = this.#crashPoint?.operation === this.#count ? this.#crashPoint : undefined;
    if (crashPoint?.when !== 'before') land();
    if (crashPoint === undefined) return true;
    this.#isOff = true;
    crashPoint.cutPower();
    return false;
  }
}
