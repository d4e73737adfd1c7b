// Threads of proxy workers that throw when a test says so: `new BroadcastChannel('fall').postMessage({ place: 1 })`.
import type { Threads } from '../../src/proxy/worker/port.ts';
import { newThread } from '../../src/proxy/worker/ready-threads.ts';

export const fallingThreads: Threads = {
  start: (start) => newThread(start, new URL('./falling-thread.ts', import.meta.url)),
};
