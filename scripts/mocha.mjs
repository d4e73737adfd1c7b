// Runs of mocha, and a second one of what failed: with SLUICE_SECOND_RUN=1 (`.ci/run`) the files of up to five failed tests run
// once more, one after the other. What passes then is told by name and does not fail the run; what fails twice does. By hand
// there is no second run: a test that fails now and then is to be mended.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mostFailures = 5;
const reporters = { explaining: 'test/support/explaining-reporter.cjs', dot: 'test/support/dot-reporter.cjs' };

/** Cache of code that Node compiled and stripped of types, for its next process and thread. Coverage of code from there is less precise. */
const compiled = process.env.NODE_V8_COVERAGE
  ? {}
  : { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled') };

/** Names of tests that failed first and passed the second time, over all runs of this process. */
export const unsteady = [];

/**
 * Runs mocha and resolves with its exit code and the names of the tests that failed.
 *
 * @param {readonly string[]} args
 * @param {{reporter?: 'explaining' | 'dot', env?: NodeJS.ProcessEnv, signal?: AbortSignal, onOutput?: (chunk: Buffer) => void}} options
 *   `signal` ends it; `onOutput` gets its output, which is printed otherwise
 */
export async function mocha(args, { reporter = 'explaining', env = {}, signal, onOutput } = {}) {
  const first = await once([...args, '--reporter', reporters[reporter]], { env, signal, onOutput });
  const files = [...new Set(first.failed.map(({ file }) => file))];
  const names = first.failed.map(({ name }) => name);
  const isWorthARun = first.failed.length > 0 && first.failed.length <= mostFailures && !files.includes(undefined);
  if (first.code === 0 || process.env.SLUICE_SECOND_RUN !== '1' || !isWorthARun) return { code: first.code, names };
  console.log(`\n== the second run: ${files.join(', ')}`);
  const second = await once([...files, '--timeout', '400000', '--reporter', reporters.explaining], { env, signal });
  if (second.code !== 0) return { code: second.code, names };
  unsteady.push(...names);
  console.log(`failed once and passed the second time: ${names.join('; ')}`);
  return { code: 0, names: [] };
}

/** Runs mocha once. */
async function once(args, { env, signal, onOutput }) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-failed-'));
  const record = join(folder, 'tests');
  const child = spawn('mocha', args, {
    stdio: ['inherit', onOutput ? 'pipe' : 'inherit', 'inherit'],
    env: { ...process.env, ...compiled, ...env, SLUICE_FAILED_TESTS: record },
    signal,
  });
  child.stdout?.on('data', onOutput);
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.once('close', (status) => resolve(status ?? 1));
  });
  const failed = recorded(record);
  rmSync(folder, { recursive: true, force: true });
  return { code, failed };
}

/** Returns `{name, file}` of each test that failed. */
function recorded(record) {
  try {
    return readFileSync(record, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

if (process.argv[1] === import.meta.filename) process.exitCode = (await mocha(process.argv.slice(2))).code;
