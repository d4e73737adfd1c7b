// A file system that forgets what was not synced, names included: `losing-fs.c`, compiled once for a run. POSIX promises no
// more, and real ones keep most of it anyway, so that only this one tells whether everything was synced that has to be.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './sluice-process.ts';

const source = new URL('losing-fs.c', import.meta.url).pathname;
let program: string | undefined;

function compiled(): string {
  if (program !== undefined) return program;
  const flags = (kind: string): string[] =>
    execFileSync('pkg-config', [kind, 'fuse3'], { encoding: 'utf8' }).trim().split(/\s+/);
  const target = join(newFolder(), 'losing-fs');
  execFileSync('gcc', ['-O1', ...flags('--cflags'), source, '-o', target, ...flags('--libs')], { stdio: 'pipe' });
  program = target;
  return target;
}

export class LosingDisk {
  readonly #mountPoint: string;

  private constructor(mountPoint: string) {
    this.#mountPoint = mountPoint;
  }

  /** Why this machine cannot have one; undefined when it can. */
  static get lacks(): string | undefined {
    try {
      execFileSync('pkg-config', ['--exists', 'fuse3']);
      compiled();
    } catch {
      return 'gcc and the headers of fuse3';
    }
    return undefined;
  }

  /** Mounts an empty one at `mountPoint`, which is made. To be removed. */
  static mount(mountPoint: string): LosingDisk {
    mkdirSync(mountPoint, { recursive: true });
    execFileSync(compiled(), [mountPoint], { stdio: 'pipe' });
    return new LosingDisk(mountPoint);
  }

  /** Drops all that was not synced. Programs that used it have to be over. */
  cutPower(): void {
    this.#command('.cut');
  }

  /** Every write and every sync takes so long. */
  slow(ms: number): void {
    this.#command(`.slow-${ms}`);
  }

  /** Every write and every sync is EIO, or no more. */
  fail(fails: boolean): void {
    this.#command(fails ? '.fail-on' : '.fail-off');
  }

  remove(): void {
    execFileSync('fusermount3', ['-u', '-z', this.#mountPoint]);
  }

  #command(name: string): void {
    existsSync(join(this.#mountPoint, name));
  }
}
