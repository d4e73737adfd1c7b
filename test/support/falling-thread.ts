// A proxy worker that throws when a test says so: `new BroadcastChannel('fall').postMessage({ place: 1 })`.
import { workerData } from 'node:worker_threads';

await import('../../src/proxy/worker/thread.ts');

const channel = new BroadcastChannel('fall');
channel.unref();
channel.onmessage = ({ data }) => {
  if (workerData.place === data.place) throw new Error('told to fall');
};
