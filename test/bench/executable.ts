// `npm run bench:executable [-- --rounds 5]`: CPU and memory of the executable in out/ beside `npm start`, in turn: until it
// says that it is ready, with two workers and an empty store. Processes that npm keeps around it count.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { packages } from '../support/packages.ts';
import { cpuMsOf, memoryKbOf } from '../support/proc-figures.ts';
import { endAll, startSluice } from '../support/sluice-process.ts';

const { values } = optionsOf(import.meta.url, { options: { rounds: { type: 'string', default: '5' } } });
const executable = packages.executable('linux-x64');
const ways: Readonly<Record<string, (file: string) => readonly string[]>> = {
  executable: (file) => [executable, '--config', file],
  'npm start': (file) => ['npm', 'start', '--silent', '--', '--config', file],
};

/** Returns a process and all below it. */
function treeOf(pid: number): number[] {
  const children = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
  return [pid, ...children.flatMap(treeOf)];
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
const figures = Object.fromEntries(
  Object.keys(ways).map((way) => [way, { cpu: [] as number[], memory: [] as number[] }]),
);

for (let round = 0; round < Number(values.rounds); round++)
  for (const [way, command] of Object.entries(ways)) {
    const sluice = await startSluice({ more: 'proxy: { workers: 2 }', command });
    const tree = treeOf(sluice.child.pid ?? 0);
    figures[way]?.cpu.push(tree.reduce((sum, pid) => sum + cpuMsOf(pid), 0));
    figures[way]?.memory.push(tree.reduce((sum, pid) => sum + memoryKbOf(pid), 0) / 1024);
    await sluice.stop();
  }
for (const [way, { cpu, memory }] of Object.entries(figures))
  console.log(
    `${way.padEnd(12)} CPU until ready ${median(cpu)} ms (${Math.min(...cpu)} to ${Math.max(...cpu)}), ` +
      `memory ${median(memory).toFixed(0)} MiB`,
  );
console.log(`executable: ${(statSync(executable).size / 1e6).toFixed(0)} MB`);
endAll();
