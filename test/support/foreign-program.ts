// Programs in other languages, with gRPC's own implementations and Envoy's own descriptions (test/python, test/go). What
// they need is there or not: `.ci/run` brings it, a test that needs it is left out by name where it is not.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice');
/** Python with the packages of test/python/requirements.txt. For `needs`, as the next. */
export const python = join(cache, 'python/bin/python');
/** Makes stubs of descriptions; one of its packages. */
export const pythonCompiler = join(cache, 'python/bin/python-grpc-tools-protoc');
/** Path of the program that test/go builds. */
export const goProgram = join(cache, 'grpc-go');

export const pythonScript = (name: string): string => join(import.meta.dirname, '../python', name);

/** Program of a test that runs until `stop`. */
export class ForeignProgram {
  readonly #child: ChildProcess;
  /** Lines that it has printed. */
  readonly lines: string[] = [];

  constructor(program: string, args: readonly string[]) {
    const child = spawn(program, [...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout }).on('line', (line) => this.lines.push(line));
    this.#child = child;
  }

  /** Resolves with all that it printed. Rejects when it fails. */
  async ended(): Promise<string> {
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    if (this.#child.exitCode !== 0) throw new Error(`ended with ${this.#child.exitCode}`);
    return this.lines.join('\n');
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
