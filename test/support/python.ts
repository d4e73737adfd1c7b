// Programs in Python with gRPC's own implementation and Envoy's own descriptions (test/python/requirements.txt), in an
// environment that is there or not: `.ci/run` makes it, a test that needs it is left out by name where it is not.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
/** For `needs`. */
export const python = join(cache, 'sluice/python/bin/python');

const scripts = join(import.meta.dirname, '../python');

/** One that runs until `stop`. */
export class PythonProgram {
  readonly #child: ChildProcess;
  /** Lines that it has printed. */
  readonly lines: string[] = [];

  constructor(script: string, args: readonly string[] = []) {
    const child = spawn(python, [join(scripts, script), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout }).on('line', (line) => this.lines.push(line));
    this.#child = child;
  }

  /** Resolves with all that it printed. Rejects when it fails. */
  async ended(): Promise<string> {
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    if (this.#child.exitCode !== 0) throw new Error(`ended with ${this.#child.exitCode}`);
    return this.lines.join('\n');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
