// A proxy worker that throws when a test says so: `new BroadcastChannel('fall').postMessage(0 or 1)`, those with an
// even or an odd thread id; `{ place: 2 }`, the one at that place.
import { threadId, workerData } from 'node:worker_threads';

await import('../../src/proxy/worker/thread.ts');

const channel = new BroadcastChannel('fall');
channel.unref();
channel.onmessage = ({ data }) => {
  if (threadId % 2 === data || workerData.place === data.place) throw new Error('told to fall');
};
