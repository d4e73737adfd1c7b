// Preloaded into a Sluice under test (`askSilence` in silences.ts): on SIGWINCH one line on stderr, `silent N`, with the
// milliseconds for which its raft thread heard no heartbeat at most since the last time; 0 where it heard none at all. What is
// heard is what the thread was given to read: time that bytes spent in sockets counts.
import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { isMainThread, threadName } from 'node:worker_threads';

const channel = new BroadcastChannel('heard-heartbeats');
channel.unref();

if (isMainThread) process.on('SIGWINCH', () => channel.postMessage('ask'));
else if (threadName === 'raft') {
  const { framesWatch } = await import('./frames-watch.ts');
  let longestMs = 0;
  let last;
  const listen = ({ socket }) =>
    socket.on(
      'data',
      framesWatch(({ type }) => {
        if (type !== 'heartbeat') return;
        const now = performance.now();
        longestMs = Math.max(longestMs, now - (last ?? now));
        last = now;
      }),
    );
  // They come by connections that this node dialled, or by any while there is only one.
  for (const name of ['net.client.socket', 'net.server.socket']) subscribe(name, listen);
  channel.onmessage = () => {
    writeSync(2, `silent ${Math.round(longestMs)}\n`);
    longestMs = 0;
  };
}
