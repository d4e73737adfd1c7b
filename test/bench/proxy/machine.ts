// Processes of a benchmark and their cost: each is pinned to one core, writes a log of its own, and ends with the
// run.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Cores of the proxies, and of everything else. */
export const cores = { proxy: 0, load: 1 } as const;

export function installed(command: string): boolean {
  try {
    execFileSync('which', [command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

export class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  readonly #children = new Map<number, ChildProcess>();

  /** Path of a file of the run with this content. */
  file(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** Id of the process. What it says goes to `<name>.log` of the folder. */
  start(core: number, name: string, command: string, args: readonly string[]): number {
    const log = openSync(join(this.folder, `${name}.log`), 'a');
    const env = { ...process.env, XDG_CONFIG_HOME: this.folder, XDG_DATA_HOME: this.folder };
    const child = spawn('taskset', ['-c', String(core), command, ...args], { env, stdio: ['ignore', log, log] });
    closeSync(log);
    const { pid = 0 } = child;
    this.#children.set(pid, child);
    child.once('exit', () => this.#children.delete(pid));
    return pid;
  }

  /** Text that a program of the load's core prints. Rejects with what it complains of. */
  run(command: string, args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const all = ['-c', String(cores.load), command, ...args];
      execFile('taskset', all, { maxBuffer: 1 << 26 }, (error, text, complaint) => {
        if (error) reject(new Error(`${command}: ${complaint || error.message}`));
        else resolve(text);
      });
    });
  }

  /** Resolves when the process accepts connections there. */
  async listening(port: number, pid: number, name: string): Promise<void> {
    for (let tries = 0; tries < 400; tries++) {
      if (!this.#children.has(pid)) break;
      if (await accepts(port)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${name} does not listen:\n${this.#lastWords(name)}`);
  }

  /** Throws the last lines of the process if it has ended. */
  insist(pid: number, name: string): void {
    if (!this.#children.has(pid)) throw new Error(`${name} has ended:\n${this.#lastWords(name)}`);
  }

  #lastWords(name: string): string {
    return readFileSync(join(this.folder, `${name}.log`), 'utf8').slice(-2_000);
  }

  async stop(pid: number): Promise<void> {
    const child = this.#children.get(pid);
    if (child === undefined) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const cut = setTimeout(() => child.kill('SIGKILL'), 2_000);
    child.kill();
    await gone;
    clearTimeout(cut);
  }

  /** Ends the processes, then removes the folder that they write to. */
  async end(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((pid) => this.stop(pid)));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

export const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time of all threads of the process and of its children: nginx and HAProxy work in a child. */
export function cpuSeconds(pid: number): number {
  let ticks = 0;
  for (const id of family(pid)) {
    const fields = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / ticksPerSecond;
}

export function rssKb(pid: number): number {
  let sum = 0;
  for (const id of family(pid))
    sum += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0);
  return sum;
}

function family(pid: number): number[] {
  const found = [pid];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
    if (text !== '') for (const id of text.split(' ')) found.push(...family(Number(id)));
  }
  return found;
}
