import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to connections and to whoever asks for any port (32768 and up on Linux, 49152 on
 * macOS): whatever else runs on this machine, none of these is taken by chance between the question and its use.
 */
const range = { first: 10_000, last: 32_767 };
const given = new Set<number>();

/** A port of 127.0.0.1 that the system says is free, given to nobody else in this process. */
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
