// HTTP/2 to upstreams, and nothing else: by ALPN over TLS, with prior knowledge in cleartext.
import type { Socket } from 'node:net';
import { http2 as nodeHttp2 } from '../../on-demand.ts';
import type { ProbeRequest, UpstreamProtocol } from './upstream-protocol.ts';

export const http2: UpstreamProtocol = {
  name: 'http2',
  alpn: 'h2',
  title: 'HTTP/2',
  version: '2',
  reportsUnprocessed: true,
  statusOf: async (socket, request) => {
    const { headers } = await exchange(socket, headOf('GET', request));
    return Number(headers[':status']);
  },
};

/** Response of an exchange: headers, trailers in them, and the body. */
interface ProbeResponse {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export const headOf = (method: string, { scheme, authority, path }: ProbeRequest): Record<string, string> => ({
  ...{ ':method': method, ':path': path, ':scheme': scheme, ':authority': authority },
});

/** Sends one request on a connection that serves nothing else. Rejects without a response. */
export function exchange(socket: Socket, headers: Record<string, string>, send?: Buffer): Promise<ProbeResponse> {
  return new Promise((resolve, reject) => {
    const session = nodeHttp2().connect(`http://${headers[':authority']}`, { createConnection: () => socket });
    session.once('error', reject);
    session.once('close', () => reject(new Error('the connection was closed')));
    const stream = session.request(headers, { endStream: send === undefined });
    const received: Record<string, unknown> = {};
    const chunks: Buffer[] = [];
    stream.on('response', (fields) => Object.assign(received, fields));
    stream.on('trailers', (fields) => Object.assign(received, fields));
    stream.on('data', (chunk: Buffer) => {
      if (chunks.length < chunksMax) chunks.push(chunk);
    });
    stream.once('error', reject);
    stream.once('end', () => {
      resolve({ headers: received, body: Buffer.concat(chunks) });
      session.destroy();
    });
    if (send !== undefined) stream.end(send);
  });
}

/** Maximum number of chunks that are read of a body. */
const chunksMax = 16;
