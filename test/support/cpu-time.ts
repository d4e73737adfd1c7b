/** CPU time that this thread spends in `run`, milliseconds: what else the machine does hardly shows in it. */
export function cpuMs(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
