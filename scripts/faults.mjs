// `npm run test:faults`: real processes that are killed, stopped, cut off and robbed of their disk while clients write
// (the rows of raft.md C6, and the long runs of one node). Every row runs, even after one has failed. Arguments:
// names of rows, to run those alone; `--full` for the full lengths. A length can be set by its variable as well.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `lengths` and `takes` (seconds on two cores): by default, and with `--full`. */
const rows = [
  {
    name: '1',
    what: 'the leader is killed every 5 s',
    test: ['test/faults/processes.test.ts', 'a leader killed'],
    lengths: { SLUICE_LEADER_KILLS_SECONDS: [30, 120] },
    takes: [35, 125],
  },
  {
    name: '2',
    what: 'one, two or all nodes are killed at once',
    test: ['test/faults/processes.test.ts', 'one, two or all'],
    lengths: { SLUICE_RANDOM_KILLS_SECONDS: [30, 120] },
    takes: [40, 125],
  },
  {
    name: '3',
    what: 'the leader is stopped for up to 20 s',
    test: ['test/faults/processes.test.ts', 'a leader that is stopped'],
    lengths: { SLUICE_STOPPED_LEADER_SECONDS: [40, 120] },
    takes: [45, 130],
  },
  {
    name: '4',
    what: 'one-way and bridge partitions',
    test: ['test/faults/partitions.test.ts'],
    lengths: { SLUICE_PARTITIONS_SECONDS: [40, 120] },
    takes: [50, 125],
  },
  {
    name: '5',
    what: 'the power fails: unsynced data is lost',
    test: ['test/faults/unsynced.test.ts'],
    lengths: { SLUICE_UNSYNCED_SECONDS: [30, 120] },
    takes: [60, 160],
  },
  {
    name: '6',
    what: 'a full disk',
    test: ['test/faults/single-nodes.test.ts', 'disk is full'],
    takes: [20, 20],
  },
  {
    name: '7',
    what: 'a flipped byte',
    test: ['test/faults/single-nodes.test.ts', 'flipped byte'],
    lengths: { SLUICE_FLIPPED_BYTES_SECONDS: [30, 120] },
    takes: [40, 130],
  },
  {
    name: '8',
    what: 'rolling restarts',
    test: ['test/faults/processes.test.ts', 'a rolling restart'],
    lengths: { SLUICE_ROLLING_RESTART_SECONDS: [30, 120] },
    takes: [40, 130],
  },
  {
    name: '9',
    what: 'a node is replaced',
    test: ['test/faults/single-nodes.test.ts', 'is replaced'],
    takes: [15, 15],
  },
  {
    name: '10',
    what: 'cold starts in every order',
    test: ['test/faults/cold-start.test.ts'],
    lengths: { SLUICE_COLD_START_SECONDS: [6, 30] },
    takes: [95, 330],
  },
  {
    name: '11',
    what: 'a main thread that stands still',
    test: ['test/faults/single-nodes.test.ts', 'stands still'],
    takes: [10, 10],
  },
  {
    name: '12',
    what: 'activations while nodes are killed',
    test: ['test/faults/activations.test.ts'],
    lengths: { SLUICE_ACTIVATIONS: [300, 1_000] },
    takes: [50, 95],
  },
  {
    name: 'rollouts',
    what: 'rollouts of a fleet, killed and cut off',
    test: ['test/faults/rollouts.test.ts'],
    lengths: { SLUICE_ROLLOUTS_SECONDS: [60, 600], SLUICE_ROLLOUT_PROXIES: [3, 5] },
    takes: [90, 640],
  },
  {
    name: 'rollout-steps',
    what: 'the leader fails at each step of a rollout',
    test: ['test/faults/rollout-steps.test.ts'],
    lengths: { SLUICE_ROLLOUT_STEPS: [6, 50] },
    takes: [80, 600],
  },
  {
    name: 'confirmations',
    what: 'the leader is killed around the deadline of a confirmation',
    test: ['test/cluster/confirmation.test.ts', 'kills around'],
    lengths: { SLUICE_CONFIRMATION_KILLS: [6, 50] },
    takes: [80, 620],
  },
  {
    name: 'kills',
    what: 'edits and activations under leader kills',
    test: ['test/faults/leader-changes.test.ts'],
    lengths: { SLUICE_LEADER_CHANGES: [10, 50] },
    takes: [35, 120],
  },
  {
    name: 'reads',
    what: 'written on one node, read on the others',
    test: ['test/cluster/read-your-writes.test.ts'],
    lengths: { SLUICE_READ_ROUNDS: [1_000, 1_000] },
    takes: [15, 15],
  },
  {
    name: 'crash',
    what: 'one node is killed under writes',
    test: ['test/process/crash.test.ts'],
    lengths: { SLUICE_CRASH_ROUNDS: [100, 200] },
    takes: [130, 260],
  },
  {
    name: 'load',
    what: 'activations of one node under traffic',
    test: ['test/process/activations.test.ts'],
    lengths: { SLUICE_ACTIVATIONS: [1_000, 1_000] },
    takes: [20, 20],
  },
  {
    name: 'disks',
    what: 'disks that stand still or are full',
    test: ['test/faults/disks.test.ts'],
    takes: [180, 180],
  },
  {
    name: 'power-cuts',
    what: 'disks that forget what was not synced, or fail',
    test: ['test/faults/power-cuts.test.ts'],
    lengths: { SLUICE_POWER_CUTS: [15, 50] },
    takes: [120, 300],
  },
  {
    name: 'discovery',
    what: 'the API of Kubernetes is gone under traffic',
    test: ['test/process/discovery.test.ts'],
    lengths: { SLUICE_DISCOVERY_AWAY_SECONDS: [10, 60] },
    takes: [20, 75],
  },
  {
    name: 'transfer',
    what: 'large bodies each way',
    test: ['test/process/transfer.test.ts'],
    lengths: { SLUICE_TRANSFER_MB: [1_024, 1_024] },
    takes: [25, 25],
  },
];

const args = process.argv.slice(2);
const isFull = args.includes('--full');
const chosen = chosenRows(args.filter((arg) => arg !== '--full'));
/** Everything that a row leaves behind lies in here. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'));
const results = [];
let running;
let stoppedBy;

process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));

const minutes = Math.ceil(chosen.reduce((sum, row) => sum + takes(row), 0) / 60);
console.log(`${chosen.length} rows, about ${minutes} min; Ctrl-C stops`);
for (const row of chosen) {
  if (stoppedBy !== undefined) break;
  console.log(`\n== row ${row.name} (${results.length + 1} of ${chosen.length}): ${row.what}, about ${takes(row)} s`);
  results.push(await run(row));
}
console.log(`\n${summary()}`);
process.exitCode = stoppedBy === undefined ? Number(results.some(({ isPassed }) => !isPassed)) : 130;

function chosenRows(names) {
  if (names.includes('--help')) {
    const lines = rows.map(({ name, what }) => `  ${name.padEnd(14)} ${what}`);
    console.log(['npm run test:faults -- [ROW ...] [--full]', '', ...lines].join('\n'));
    return process.exit(0);
  }
  const unknown = names.filter((name) => !rows.some((row) => row.name === name));
  if (unknown.length === 0) return rows.filter(({ name }) => names.length === 0 || names.includes(name));
  console.error(`faults: no row ${unknown.join(', ')}; there are ${rows.map(({ name }) => name).join(', ')}`);
  return process.exit(2);
}

function takes(row) {
  return row.takes[Number(isFull)];
}

async function run(row) {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  running = start(row);
  const output = pass(running.stdout, seconds);
  const code = await ended(running);
  endGroup(running);
  const leftOut = /(\d+) pending/.exec(Buffer.concat(await output).toString())?.[1];
  return { row, isPassed: code === 0, leftOut, seconds: seconds() };
}

function start({ test: [file, only], lengths = {} }) {
  const mocha = [file, ...(only ? ['--grep', only] : []), '--timeout', '120000', '--exit'];
  const asked = Object.entries(lengths).map(([name, values]) => [name, String(values[Number(isFull)])]);
  return spawn('mocha', [...mocha, process.stdout.isTTY ? '--color' : '--no-color'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own: Ctrl-C reaches this script alone, which then ends all that the row started.
    detached: true,
    env: { ...Object.fromEntries(asked), ...process.env, TMPDIR: folder },
  });
}

/** Shows and keeps what comes; while nothing does, a line every 15 seconds says how long that has been so. */
async function pass(stream, seconds) {
  const output = [];
  const stillThere = () => console.log(`      … ${seconds()} s`);
  const ticker = setInterval(stillThere, 15_000);
  for await (const chunk of stream) {
    ticker.refresh();
    output.push(chunk);
    process.stdout.write(chunk);
  }
  clearInterval(ticker);
  return output;
}

/** The exit code; 1 when it could not be started, null when it was killed. */
function ended(child) {
  const { promise, resolve } = Promise.withResolvers();
  child.once('close', resolve);
  child.once('error', (error) => {
    console.error(error.message);
    resolve(1);
  });
  return promise;
}

function stop(signal) {
  if (stoppedBy !== undefined) return;
  stoppedBy = signal;
  console.log(`\n${signal}: stops what runs`);
  if (running !== undefined) endGroup(running);
}

function endGroup({ pid }) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Nothing of it is left.
    if (error.code !== 'ESRCH') throw error;
  }
}

function summary() {
  const lines = chosen.map((row) => {
    const result = results.find((one) => one.row === row);
    return [row.name.padEnd(8), row.what.padEnd(42), wordFor(result)].join('  ');
  });
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const failed = results.filter(({ isPassed }) => !isPassed).length;
  return `${lines.join('\n')}\n\n${results.length - failed} of ${chosen.length} rows passed, ${(seconds / 60).toFixed(1)} min`;
}

function wordFor(result) {
  if (result === undefined) return 'not run';
  const time = `${String(result.seconds).padStart(4)} s`;
  if (!result.isPassed) return `${time}  ${result.row === results.at(-1)?.row && stoppedBy ? 'stopped' : 'FAILED'}`;
  return `${time}  passed${result.leftOut ? `, ${result.leftOut} left out: this machine lacks something` : ''}`;
}
