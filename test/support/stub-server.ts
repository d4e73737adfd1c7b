// Servers that answer as a test says, in the place of the API.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const servers: Server[] = [];

/** Ends all of them, and what they have open. */
export function closeStubs(): void {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
}

/** Resolves with the address of a server that listens from now on: `127.0.0.1:<port>`. */
export async function listening(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Resolves with the URL of a server. */
export const stub = async (onRequest: RequestListener): Promise<string> =>
  `http://${await listening(createServer(onRequest))}`;

/** Answers each request with the same JSON. */
export const answer =
  (body: unknown, status = 200, headers = {}): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** Server with a level of the log. `levels` gets each one that is set; `onSet` is awaited before the answer. */
export const levelStub = (levels: string[], onSet: () => unknown = () => undefined): Promise<string> =>
  stub(async (request, response) => {
    if (request.method === 'GET') return answer({ level: 'info', modules: {} })(request, response);
    const body = JSON.parse((await request.toArray()).join('')) as { level: string };
    levels.push(body.level);
    await onSet();
    answer({ ...body, modules: {} })(request, response);
  });
