// A real Sluice in its own process, on ports that the system gave, with its store in a folder of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { programOptions } from '../../scripts/node-options.mjs';
import { withGivenSockets } from './given-sockets.ts';

export interface SluiceProcess {
  /** `http://127.0.0.1:<port>` of the API. */
  readonly url: string;
  readonly storePath: string;
  /** Every line it printed so far, stdout and stderr. */
  readonly output: readonly string[];
  readonly child: ChildProcess;
  /** Sends the signal and resolves with the exit code, or the signal's name when that ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | string>;
}

export interface SluiceOptions {
  /** Kept between starts when given; a new one otherwise. */
  readonly folder?: string;
  /** Below `data` of the folder, for the program to make. Default: `data` itself, which is there. */
  readonly storeBelow?: string;
  /** Port of the API. Default: one that the system gives. */
  readonly port?: number;
  /** YAML below `controlPlane:`, two spaces in. */
  readonly controlPlane?: string;
  /** Further sections of the settings file. */
  readonly more?: string;
  readonly logLevel?: 'debug' | 'info';
  /** Default: json, which the tests read. */
  readonly logFormat?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Descriptors that the process may have; those of the tests otherwise. */
  readonly descriptors?: number;
  /** List that its lines go to. Default: a list of its own. */
  readonly output?: string[];
  /** Returns program and arguments that start one with this settings file; the build otherwise. */
  readonly command?: (settingsFile: string) => readonly string[];
  /** Path of the store where the program has another view of the disk; `data` of the folder otherwise. */
  readonly storePath?: string;
}

export interface LaunchedSluice extends Omit<SluiceProcess, 'url'> {
  /** Resolves with `url` when it says that it is ready; rejects when it ends before. */
  readonly ready: Promise<string>;
}

/** An executable of `npm run package` in place of the build in dist/: `SLUICE_BUILD=out/sluice-… npm test -- process`. */
const executable = process.env.SLUICE_BUILD === undefined ? undefined : resolve(process.env.SLUICE_BUILD);
const main = new URL('../../dist/src/main.js', import.meta.url).pathname;
/** The program and its first arguments. */
export const program = executable === undefined ? [process.execPath, ...programOptions, main] : [executable];
const folders: string[] = [];
const children = new Set<ChildProcess>();

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  folders.push(folder);
  return folder;
}

/** Starts one and waits until it says that it is ready. */
export async function startSluice(options: SluiceOptions = {}): Promise<SluiceProcess> {
  const { ready, ...sluice } = launchSluice(options);
  return { ...sluice, url: await ready };
}

/** Starts one that may be stopped before it is ready. */
export function launchSluice(options: SluiceOptions = {}): LaunchedSluice {
  const folder = options.folder ?? newFolder();
  mkdirSync(join(folder, 'data'), { recursive: true });
  const storePath = options.storePath ?? join(folder, 'data', options.storeBelow ?? '');
  const file = join(folder, 'sluice.yaml');
  writeFileSync(
    file,
    withGivenSockets(
      `controlPlane:\n  address: 127.0.0.1:${options.port ?? 0}\n  storePath: ${storePath}\n${options.controlPlane ?? ''}\n` +
        `log: { format: ${options.logFormat ?? 'json'}, level: ${options.logLevel ?? 'info'} }\n${options.more ?? ''}\n`,
    ),
  );
  const child =
    options.command === undefined
      ? spawnSluice(['--config', file], options.env, undefined, options.descriptors)
      : spawnCommand(options.command(file), options.env);
  const { output = [] } = options;
  const scheme = /^ {2}tls:/m.test(options.controlPlane ?? '') ? 'https' : 'http';
  return {
    ready: readyAddress(child, output).then((address) => `${scheme}://${address}`),
    storePath,
    output,
    child,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode ?? 0;
      child.kill(signal);
      await once(child, 'close');
      return child.exitCode ?? child.signalCode ?? 0;
    },
  };
}

export function spawnSluice(
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
  cwd?: string,
  descriptors?: number,
  stdin: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  // `prlimit` becomes the program, which keeps its number.
  const limited = descriptors === undefined ? [] : ['prlimit', `--nofile=${descriptors}:${descriptors}`];
  const [file = '', ...rest] = [...limited, ...program, ...args];
  return spawnProgram(file, rest, env, cwd, stdin);
}

/** Another program, ended like one of Sluice. */
export const spawnCommand = (
  [file = '', ...args]: readonly string[],
  env?: NodeJS.ProcessEnv,
  stdin?: 'ignore' | 'pipe',
): ChildProcess => spawnProgram(file, args, env, undefined, stdin);

/** Another program under Node, ended like one of Sluice. */
export const spawnNode = (args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string): ChildProcess =>
  spawnProgram(process.execPath, args, env, cwd);

function spawnProgram(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
  stdin: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  const child = spawn(file, args, { stdio: [stdin, 'pipe', 'pipe'], env: { PATH: process.env.PATH, ...env }, cwd });
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}

/** Runs one to its end; for starts that are refused and for --help. */
export const runSluice = (args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string) =>
  endOf(spawnSluice(args, env, cwd));

/** Resolves with what a process printed and its exit code. */
export async function endOf(child: ChildProcess) {
  const chunks = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => (chunks.stdout += chunk));
  child.stderr?.on('data', (chunk) => (chunks.stderr += chunk));
  await once(child, 'close');
  return { ...chunks, code: child.exitCode };
}

async function readyAddress(child: ChildProcess, output: string[]): Promise<string> {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('the process has no output to read');
  const earlier = output.length;
  createInterface({ input: stderr }).on('line', (line) => output.push(line));
  return new Promise((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (line) => {
      output.push(line);
      const entry = parse(line);
      if (entry?.msg === 'ready' && entry.address) resolve(entry.address);
    });
    child.once('close', () =>
      reject(new Error(`sluice ended before it was ready:\n${output.slice(earlier).join('\n')}`)),
    );
  });
}

function parse(line: string): { msg?: string; address?: string } | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Ends what was left running and removes the folders: after all tests (leftovers.ts), or at the end of a script. */
export function endAll(): void {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
