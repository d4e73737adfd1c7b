// Preloaded into a Sluice under test (`askHeld` in held-loops.ts): on SIGUSR2 one line on stderr, `held {…}`, with the CPU
// time that each thread took at most between two turns of its loop since the last time, milliseconds. Time for which the
// processors served others does not count.
import { writeSync } from 'node:fs';
import { isMainThread, threadId, threadName } from 'node:worker_threads';

/** Milliseconds between measurements: shorter turns are not told apart. */
const lookEveryMs = 2;

const name = isMainThread ? 'main' : threadName || `thread ${threadId}`;
const channel = new BroadcastChannel('held-loops');
channel.unref();

// Node evaluates all of undici for the first message of a channel, 30 to 50 ms: done before the measurement.
void globalThis.MessageEvent;

/** CPU time of this thread. Linux updates it when the CPU time of the process is read. */
function cpuMs() {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

let longest = 0;
let before = cpuMs();
setInterval(() => {
  const now = cpuMs();
  longest = Math.max(longest, now - before);
  before = now;
}, lookEveryMs).unref();

function taken() {
  const ms = longest;
  longest = 0;
  return { name, ms };
}

if (isMainThread) {
  let threads = 0;
  let question = 0;
  let answers = [];
  const tellWhenAll = () => {
    if (answers.length <= threads) return;
    const held = {};
    for (const { name, ms } of answers) held[name] = Math.max(held[name] ?? 0, Math.round(ms * 10) / 10);
    answers = [];
    writeSync(2, `held ${JSON.stringify(held)}\n`);
  };
  channel.onmessage = ({ data }) => {
    if (data.kind === 'started') threads++;
    else if (data.kind === 'held' && data.question === question) {
      answers.push(data.answer);
      tellWhenAll();
    }
  };
  process.on('SIGUSR2', () => {
    answers = [taken()];
    channel.postMessage({ kind: 'ask', question: ++question });
    tellWhenAll();
  });
} else {
  channel.onmessage = ({ data }) => {
    if (data.kind === 'ask') channel.postMessage({ kind: 'held', question: data.question, answer: taken() });
  };
  channel.postMessage({ kind: 'started' });
}
