// A proxy worker that throws when a test says so: `new BroadcastChannel('fall').postMessage(0 or 1)`.
import { threadId } from 'node:worker_threads';

await import('../../src/proxy/worker/thread.ts');

const channel = new BroadcastChannel('fall');
channel.unref();
channel.onmessage = ({ data }) => {
  if (threadId % 2 === data) throw new Error('told to fall');
};
