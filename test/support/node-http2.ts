// Node's own HTTP/2 in memory, as an oracle: what its client writes, and what its server reads.
import http2 from 'node:http2';
import { Duplex } from 'node:stream';

/** One side of a connection without a socket. */
class Side extends Duplex {
  readonly sent: Buffer[] = [];
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.sent.push(chunk);
    done();
  }
}

export interface ReadRequest {
  readonly id: number;
  readonly headers: Readonly<Record<string, unknown>>;
  body: Buffer;
  /** Whole. */
  ended: boolean;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Reads the bytes with a server of Node's. `failed`: it ended the connection with an error. */
export async function nodeReading(
  parts: readonly Buffer[],
): Promise<{ requests: Map<number, ReadRequest>; failed: boolean; said: Buffer }> {
  const server = http2.createServer();
  const side = new Side();
  const requests = new Map<number, ReadRequest>();
  let failed = false;
  server.on('session', (session) => {
    session.on('error', () => {
      failed = true;
    });
    session.on('close', () => {
      failed = true;
    });
  });
  server.on('sessionError', () => {
    failed = true;
  });
  server.on('stream', (stream, headers) => {
    const request: ReadRequest = { id: stream.id ?? 0, headers: { ...headers }, body: Buffer.alloc(0), ended: false };
    requests.set(request.id, request);
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => {
      request.body = Buffer.concat([request.body, chunk]);
    });
    stream.on('end', () => {
      request.ended = true;
    });
  });
  server.emit('connection', side);
  for (const part of parts) {
    side.push(part);
    await turn();
  }
  for (let i = 0; i < 4; i++) await turn();
  const said = Buffer.concat(side.sent);
  const failedBefore = failed;
  side.destroy();
  await turn();
  return { requests, failed: failedBefore, said };
}

/** Returns the bytes that a client of Node's writes for these requests. */
export async function nodeWriting(
  requests: readonly { readonly headers: Record<string, string | string[]>; readonly body?: string }[],
): Promise<Buffer> {
  const side = new Side();
  const client = http2.connect('http://x', { createConnection: () => side });
  client.on('error', () => {});
  for (const { headers, body } of requests) {
    const stream = client.request(headers, { endStream: body === undefined });
    stream.on('error', () => {});
    if (body !== undefined) stream.end(body);
    await turn();
  }
  for (let i = 0; i < 4; i++) await turn();
  const written = Buffer.concat(side.sent);
  client.destroy();
  await turn();
  return written;
}
