// A file system of its own in a file, for what a folder cannot do: stand still, be full. Needs root and loop devices.
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './sluice-process.ts';

export type FileSystem = 'ext4' | 'xfs';

const sizeMiB = { ext4: 256, xfs: 320 };

export class LoopDisk {
  readonly #mountPoint: string;
  #isFrozen = false;

  private constructor(mountPoint: string) {
    this.#mountPoint = mountPoint;
  }

  /** Why this machine cannot have one; undefined when it can. */
  static get lacks(): string | undefined {
    if (process.getuid?.() !== 0) return 'root';
    return existsSync('/dev/loop-control') ? undefined : 'loop devices';
  }

  /** Mounts an empty one at `mountPoint`, which is made. To be removed. */
  static mount(mountPoint: string, fileSystem: FileSystem = 'ext4'): LoopDisk {
    const image = join(newFolder(), 'image');
    const file = openSync(image, 'w');
    ftruncateSync(file, sizeMiB[fileSystem] * 1024 * 1024);
    closeSync(file);
    execFileSync(`mkfs.${fileSystem}`, ['-q', image], { stdio: 'pipe' });
    mkdirSync(mountPoint, { recursive: true });
    execFileSync('mount', ['-o', 'loop', image, mountPoint], { stdio: 'pipe' });
    return new LoopDisk(mountPoint);
  }

  /** Every write waits from now on. */
  freeze(): void {
    execFileSync('fsfreeze', ['--freeze', this.#mountPoint]);
    this.#isFrozen = true;
  }

  thaw(): void {
    if (this.#isFrozen) execFileSync('fsfreeze', ['--unfreeze', this.#mountPoint]);
    this.#isFrozen = false;
  }

  /** Takes all room that is left, to the last block. */
  fill(): void {
    const chunk = Buffer.alloc(1024 * 1024, 1);
    const file = openSync(this.#ballast, 'a');
    try {
      for (let size = chunk.length; size >= 512; size = Math.floor(size / 2))
        this.#fillWith(file, chunk.subarray(0, size));
    } finally {
      closeSync(file);
    }
  }

  #fillWith(file: number, chunk: Uint8Array): void {
    for (;;) {
      try {
        writeFileSync(file, chunk);
      } catch {
        return;
      }
    }
  }

  makeRoom(): void {
    rmSync(this.#ballast, { force: true });
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#mountPoint);
    return bavail * bsize;
  }

  get #ballast(): string {
    return join(this.#mountPoint, 'ballast');
  }

  /** Removes it, from any state. */
  remove(): void {
    this.thaw();
    execFileSync('umount', ['--lazy', this.#mountPoint]);
  }
}
