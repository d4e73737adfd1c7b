import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Range below the ephemeral ports of the system (32768 and up on Linux, 49152 on macOS): no other process takes one of
 * these by chance between the question and its use.
 */
const all = { first: 10_000, last: 32_767 };
/** Range of this process: parallel processes of a run (`mocha --parallel`) take ports from separate ranges. */
const parts = 8;
const size = Math.floor((all.last - all.first + 1) / parts);
const part = Number(process.env.MOCHA_WORKER_ID ?? 0) % parts;
const range = { first: all.first + part * size, last: all.first + (part + 1) * size - 1 };
/** Ports that were given. 10080 is a bad port of the Fetch standard (§2.9): `fetch` does not connect to it. */
const given = new Set<number>([10_080]);

/** Returns a free port of 127.0.0.1, a different one at each call in this process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.first + Math.floor(Math.random() * (range.last - range.first + 1));
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
