// Gauge, preloaded into a Sluice under test (`gaugedSluice` in gauge.ts): a client of the socket named in SLUICE_GAUGE
// gets, as JSON, the memory and handles of every thread after a collection. Needs --expose-gc. Runs in every thread.
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { isMainThread, threadId } from 'node:worker_threads';

const channel = new BroadcastChannel('gauge');
channel.unref();

/** Returns the figures of this thread; `rss` is that of the whole process. */
function held() {
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const handles = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  return { thread: threadId, rss, heapUsed, external, handles };
}

if (isMainThread) {
  let threads = 1;
  const asking = new Map();
  channel.onmessage = ({ data }) => {
    if (data.kind === 'started') threads++;
    else if (data.kind === 'held') asking.get(data.question)?.(data.held);
  };
  let questions = 0;
  const everyThread = () =>
    new Promise((resolve) => {
      const answers = [];
      const question = ++questions;
      asking.set(question, (answer) => {
        answers.push(answer);
        if (answers.length < threads) return;
        asking.delete(question);
        resolve(answers);
      });
      channel.postMessage({ kind: 'ask', question });
      asking.get(question)(held());
    });
  const server = createServer(async (socket) => {
    socket.on('error', () => {});
    const answers = await everyThread();
    const descriptors = readdirSync('/proc/self/fd').length;
    socket.end(JSON.stringify({ rss: process.memoryUsage.rss(), descriptors, threads: answers }));
  });
  server.listen(process.env.SLUICE_GAUGE).unref();
} else {
  channel.onmessage = ({ data }) => {
    if (data.kind === 'ask') channel.postMessage({ kind: 'held', question: data.question, held: held() });
  };
  channel.postMessage({ kind: 'started' });
}
