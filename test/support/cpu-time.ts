/**
 * The least CPU time, milliseconds, of five runs: compiling, collecting and what the other programs of a busy machine take
 * from its caches fall on some of them, work that is really done on each.
 */
export const leastCpuMs = (run: () => void): number => Math.min(...Array.from({ length: 5 }, () => cpuMs(run)));

/** CPU time that this thread spends in `run`, milliseconds: what else the machine does hardly shows in it. */
export function cpuMs(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
