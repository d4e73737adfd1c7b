// HTTP/1.1 to upstreams.
import { undici } from '../../on-demand.ts';
import type { UpstreamProtocol } from './upstream-protocol.ts';

export const http1: UpstreamProtocol = {
  name: 'http1',
  alpn: 'http/1.1',
  title: 'HTTP/1.1',
  version: '1.1',
  reportsUnprocessed: false,
  statusOf: async (socket, { authority, path }) => {
    const client = new (undici().Client)(`http://${authority}`, {
      connect: (_, done) => setImmediate(done, null, socket),
    });
    try {
      const { statusCode, body } = await client.request({ method: 'GET', path, headers: { host: authority } });
      body.on('error', () => {}).destroy();
      return statusCode;
    } finally {
      client.destroy().catch(() => {});
    }
  },
};
