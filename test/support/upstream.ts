// A backend for the proxy to forward to.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';

export interface Upstream {
  readonly port: number;
  /** Every request it got, oldest first. */
  readonly requests: IncomingMessage[];
  close(): Promise<void>;
}

/**
 * Answers every request with `answer`, by default with its own name and the request's target. It closes no idle connection by
 * itself: a request that may not be sent twice could meet that, and would be a failed one.
 */
export async function startUpstream(name = 'upstream', answer?: RequestListener, port = 0): Promise<Upstream> {
  const requests: IncomingMessage[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    requests.push(request);
    if (answer) answer(request, response);
    else response.end(`${name} ${request.method} ${request.url}`);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
