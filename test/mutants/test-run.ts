// Run of the tests of an area against a planted bug, or without one.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** `timedOut`: the tests were still running at the end of their time. The bug makes them wait, or the machine is slow. */
export type TestResult = 'passed' | 'failed' | 'timedOut';

/** Runs Node with the arguments. A crash is a failure. Throws when it cannot be run. */
export function runTests(args: readonly string[], env: NodeJS.ProcessEnv, withinMs: number): TestResult {
  const { status, error } = spawnSync(process.execPath, args, {
    env,
    timeout: withinMs,
    killSignal: 'SIGKILL',
    stdio: 'ignore',
  });
  if (error !== undefined && 'code' in error && error.code === 'ETIMEDOUT') return 'timedOut';
  if (error !== undefined) throw error;
  return status === 0 ? 'passed' : 'failed';
}

interface MochaSettings {
  readonly 'node-option': readonly string[];
  readonly require: readonly string[];
  readonly extension: readonly string[];
  readonly timeout: number;
}

/**
 * Arguments for Node that run mocha as `.mocharc.json` says, but in the process itself: with that file mocha starts Node a second
 * time, and a loop without an end in that one outlives the first.
 */
export function mochaArguments(): readonly string[] {
  const settings: MochaSettings = JSON.parse(readFileSync(new URL('../../.mocharc.json', import.meta.url), 'utf8'));
  return [
    ...settings['node-option'].map((option) => `--${option}`),
    'node_modules/mocha/bin/mocha.js',
    '--no-config',
    ...settings.require.flatMap((file) => ['--require', file]),
    ...settings.extension.flatMap((name) => ['--extension', name]),
    ...['--timeout', String(settings.timeout)],
  ];
}

/** Number of planted bugs by what became of them. */
export class Tally {
  killed = 0;
  timedOut = 0;
  survived = 0;

  get planted(): number {
    return this.killed + this.timedOut + this.survived;
  }

  /** Share that a test has failed over, of those whose tests came to their end: 0 to 1. */
  get score(): number {
    const decided = this.killed + this.survived;
    return decided === 0 ? 1 : this.killed / decided;
  }

  add({ killed, timedOut, survived }: Readonly<Pick<Tally, 'killed' | 'timedOut' | 'survived'>>): void {
    this.killed += killed;
    this.timedOut += timedOut;
    this.survived += survived;
  }

  toString(): string {
    return `${this.killed} of ${this.planted} killed, ${this.timedOut} timed out, ${this.survived} survived`;
  }
}
