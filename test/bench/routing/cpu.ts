/**
 * CPU of this thread in microseconds, its collections of garbage included; who else runs on the machine does not count.
 * The system may bring a thread's account up to date only every few milliseconds, but does so when it is asked for that
 * of the whole process.
 */
export function cpuUs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
