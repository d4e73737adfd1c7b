// Entry of the program. The size of libuv's pool is read when the pool is first used, so it is set before anything
// that could use it is imported: fsync of the log must not wait behind four name look-ups (architecture.md §2).
process.env.UV_THREADPOOL_SIZE ??= '16';

const neededMajor = 26;

if (Number(process.versions.node.split('.')[0]) < neededMajor) {
  process.stderr.write(`sluice: Node ${neededMajor} is needed, this is ${process.version}\n`);
  process.exit(1);
}

const { runCommandLine } = await import('./command-line.ts');
await runCommandLine(process.argv.slice(2));

export {};
