// A disk of a few megabytes below a folder of settings, as the store of a node that starts there; a test fills it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountTools } from './mount-namespace.ts';
import { needs } from './needs.ts';
import { newFolder } from './sluice-process.ts';

export class SmallDisk {
  /** Folder of the node. */
  readonly folder: string;
  readonly #store: string;
  readonly #ballast: string;
  #isMounted = false;

  /** `folder` holds the settings, and the store in `data`. */
  constructor(folder = newFolder()) {
    this.folder = folder;
    this.#store = join(folder, 'data');
    this.#ballast = join(this.#store, 'ballast');
  }

  /** Skips the tests of the hook's suite on a machine that cannot mount. */
  mount(hook: Mocha.Context, size: `${number}m`): void {
    needs(hook, ...mountTools, 'umount');
    mkdirSync(this.#store, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', this.#store]);
    this.#isMounted = true;
  }

  /** Leaves so many blocks free. */
  fill(left: number): void {
    const { bavail, bsize } = statfsSync(this.#store);
    writeFileSync(this.#ballast, Buffer.alloc((bavail - left) * bsize));
  }

  /** Undoes `fill`. */
  empty(): void {
    rmSync(this.#ballast);
  }

  mountAgain(mode: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${mode}`, this.#store]);
  }

  unmount(): void {
    if (this.#isMounted) execFileSync('umount', ['--lazy', this.#store]);
  }
}
