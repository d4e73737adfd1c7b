// Preloaded into a Sluice under test (`troubled` in trouble.ts): what can go wrong in a process goes wrong when the test
// says so, one word per connection to the socket named in SLUICE_TROUBLE. Runs in every thread.
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { isMainThread, workerData } from 'node:worker_threads';
import { ClassicLevel } from 'classic-level';

const channel = new BroadcastChannel('trouble');
channel.unref();

const troubles = {
  /** The main thread does nothing else for three seconds. */
  block: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000),
  store: () => {
    ClassicLevel.prototype.batch = () => Promise.reject(new Error('the disk is gone'));
  },
  throw: () => channel.postMessage('throw'),
  heap: () => channel.postMessage('heap'),
};

if (isMainThread) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (word) => socket.end('heard', () => setImmediate(troubles[String(word)])));
  });
  // A process that was killed has left its socket behind.
  rmSync(process.env.SLUICE_TROUBLE, { force: true });
  server.listen(process.env.SLUICE_TROUBLE).unref();
} else if (workerData?.place === 0) {
  const hoard = [];
  channel.onmessage = ({ data }) =>
    setImmediate(() => {
      if (data === 'throw') throw new Error('told to fall');
      for (;;) hoard.push(new Array(10_000).fill({ hoard: hoard.length }));
    });
}
