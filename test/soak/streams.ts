// Clients of HTTP/2 for a soak: on each connection requests one after the other, and now and then a WebSocket (RFC 8441) or
// a request that is given up before its answer. A connection is left after so many, and another takes its place.
import { once } from 'node:events';
import type { ClientHttp2Stream } from 'node:http2';
import { Http2Client } from '../support/http2-client.ts';

export interface Streams {
  /** Number of streams so far. */
  readonly count: number;
  readonly failed: readonly string[];
  stop(): Promise<void>;
}

const perConnection = 100;
const silenceMs = 10_000;

export function startStreams(port: number, paths: readonly string[], clients: number, pauseMs: number): Streams {
  const failed: string[] = [];
  const state = { active: true, count: 0 };
  const visit = async (): Promise<void> => {
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    try {
      // The settings of the server tell whether it takes WebSockets.
      await once(client.session, 'remoteSettings', { signal: AbortSignal.timeout(silenceMs) });
      for (let i = 0; i < perConnection && state.active; i++) {
        const path = paths[i % paths.length] ?? '/';
        if (i % 10 === 3) await tunnelling(client, path);
        else if (i % 10 === 7) client.open({ ':path': path }).close(8);
        else await asking(client, path);
        state.count++;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    } finally {
      client.close();
    }
  };
  const walk = async (): Promise<void> => {
    while (state.active) await visit().catch((error: Error) => void failed.push(`HTTP/2: ${error.message}`));
  };
  const ended = Promise.all(Array.from({ length: clients }, walk));
  return {
    failed,
    get count() {
      return state.count;
    },
    async stop() {
      state.active = false;
      await ended;
    },
  };
}

async function asking(client: Http2Client, path: string): Promise<void> {
  const { status, body } = await client.ask({ ':path': path });
  if (status !== 200 || body !== 'ok') throw new Error(`${path}: ${status} ${body}`);
}

/** Opens one and closes it, which the other side has to confirm (RFC 6455 §5.5.1). */
async function tunnelling(client: Http2Client, path: string): Promise<void> {
  const stream = client.open({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': path });
  stream.setTimeout(silenceMs, () => stream.destroy());
  const status = statusOf(stream);
  const said: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => said.push(chunk));
  const closed = once(stream, 'close');
  if ((await status) !== 200) throw new Error(`WebSocket at ${path}: ${await status}`);
  stream.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
  stream.on('end', () => stream.end());
  await closed;
  const answer = Buffer.concat(said).toString('hex');
  if (answer !== '8800') throw new Error(`WebSocket at ${path}: closed with ${answer}`);
}

/** 0 where there is no answer. */
const statusOf = (stream: ClientHttp2Stream): Promise<number> =>
  new Promise((resolve) => {
    stream.once('response', (fields) => resolve(Number(fields[':status'])));
    stream.once('close', () => resolve(0));
  });
