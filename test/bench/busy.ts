// Another benchmark with every processor kept busy besides: `npm run bench:busy -- bench:writes --rounds 3`. Each has a
// process of its own on it that goes through more memory than the caches near a core hold, as neighbours do.
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const help = `npm run bench:busy -- SCRIPT [options]     as npm run -- SCRIPT [options], beside busy processors

  npm run bench:busy -- bench small-get-1000 --only sluice,nginx`;

const sweep = `const memory = new Int32Array(1 << 21), parent = process.ppid;
while (process.ppid === parent) for (let i = 0; i < memory.length; i += 16) memory[i]++;`;

function keepBusy(core: number): () => void {
  const child = spawn('taskset', ['-c', String(core), process.execPath, '-e', sweep], { stdio: 'ignore' });
  return () => void child.kill('SIGKILL');
}

const wanted = process.argv.slice(2);
if (wanted.length === 0 || wanted[0] === '--help') {
  console.log(help);
  process.exitCode = wanted.length === 0 ? 2 : 0;
} else if (spawnSync('taskset', ['--version']).status !== 0) {
  console.error('taskset has to be installed.');
  process.exitCode = 2;
} else {
  const idle = Array.from({ length: availableParallelism() }, (_, core) => keepBusy(core));
  const [script = '', ...options] = wanted;
  const bench = spawn('npm', ['run', '--silent', script, '--', ...options], { stdio: 'inherit' });
  // The benchmark hears of it too, ends what it has started, and is waited for.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => bench.kill(signal));
  bench.once('close', (code) => {
    for (const end of idle) end();
    process.exitCode = code ?? 1;
  });
}
