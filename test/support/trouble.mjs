// Preloaded into a Sluice under test (`troubled` in trouble.ts): what can go wrong in a process goes wrong when the test
// says so, one word per connection to the socket named in SLUICE_TROUBLE. Runs in every thread.
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { isMainThread, threadId, threadName } from 'node:worker_threads';
import { ClassicLevel } from 'classic-level';

/** As ready-threads.ts names them; what they are to do they learn later. */
const proxyThread = 'sluice proxy';
const channel = new BroadcastChannel('trouble');
channel.unref();
/** Threads of proxy workers that main has begun. */
const threads = [];
/** Tells the oldest of them that is still there. */
const tell = (trouble) => channel.postMessage({ trouble, thread: threads.find((each) => each.threadId > 0)?.threadId });

const troubles = {
  /** The main thread does nothing else for three seconds. */
  block: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000),
  store: () => {
    ClassicLevel.prototype.batch = () => Promise.reject(new Error('the disk is gone'));
  },
  throw: () => tell('throw'),
  heap: () => tell('heap'),
};

if (isMainThread) {
  process.on('worker', (thread) => thread.threadName === proxyThread && threads.push(thread));
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (word) => socket.end('heard', () => setImmediate(troubles[String(word)])));
  });
  // A process that was killed has left its socket behind.
  rmSync(process.env.SLUICE_TROUBLE, { force: true });
  server.listen(process.env.SLUICE_TROUBLE).unref();
} else if (threadName === proxyThread) {
  const hoard = [];
  channel.onmessage = ({ data: { trouble, thread } }) =>
    setImmediate(() => {
      if (thread !== threadId) return;
      if (trouble === 'throw') throw new Error('told to fall');
      for (;;) hoard.push(new Array(10_000).fill({ hoard: hoard.length }));
    });
}
