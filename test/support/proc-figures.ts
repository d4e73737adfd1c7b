// Figures of a process from Linux's /proc: CPU time and memory.
import { readFileSync } from 'node:fs';

/** A hundredth of a second on every Linux that Node runs on. */
const tickMs = 10;

/** CPU milliseconds of all threads so far, user and system. */
export function cpuMsOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * tickMs;
}

/** KiB of a line of the process's status; NaN where there is no such line. */
export function memoryKbOf(pid: number | undefined, name: 'VmRSS' | 'VmHWM' | 'RssAnon' | 'RssFile' = 'VmRSS'): number {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
