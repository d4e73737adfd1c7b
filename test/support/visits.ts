// Clients that come once: each on a connection of its own, at a steady rate. Most ask and take the answer; one in ten
// is gone before it comes.
import { connect } from 'node:net';

export interface Visits {
  /** Connections so far. */
  readonly count: number;
  readonly failed: readonly string[];
  /** Resolves when the last of them has ended. */
  stop(): Promise<void>;
}

const tickMs = 50;
const goneEvery = 10;

export function startVisits(port: number, paths: readonly string[], perMinute: number): Visits {
  const failed: string[] = [];
  const open = new Set<Promise<void>>();
  const startedAt = performance.now();
  let count = 0;
  const tick = setInterval(() => {
    const due = ((performance.now() - startedAt) / 60_000) * perMinute;
    while (count < due) {
      const path = paths[count % paths.length] ?? '/';
      const visit = (count++ % goneEvery === 0 ? leave(port, path) : ask(port, path))
        .catch((error: Error) => void failed.push(error.message))
        .finally(() => open.delete(visit));
      open.add(visit);
    }
  }, tickMs);
  return {
    failed,
    get count() {
      return count;
    },
    async stop() {
      clearInterval(tick);
      await Promise.all(open);
    },
  };
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: soak\r\nConnection: close\r\n\r\n`;

function ask(port: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request(path)));
    socket.setEncoding('latin1').setTimeout(10_000, () => socket.destroy(new Error('no answer in 10 s')));
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    socket.once('error', reject);
    socket.once('close', () => {
      if (/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok$/.test(received)) resolve();
      else reject(new Error(`a visit to ${path} was answered ${JSON.stringify(received.slice(0, 80))}`));
    });
  });
}

/** Cuts the connection as soon as the request is out. */
function leave(port: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request(path), () => socket.destroy()));
    socket.once('error', reject);
    socket.once('close', () => resolve());
  });
}
