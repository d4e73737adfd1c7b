// Uploads that an upstream answers before it has read them, through a real Sluice: no answer is lost, nor the next request.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { needs, needsNativeSockets } from '../support/needs.ts';
import { listening } from '../support/proxy-bed.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const run = promisify(execFile);
const closing = 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno';

describe('an upload that is answered early', () => {
  /** Goes on with its connections. */
  const patient = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    response.writeHead(413).end('no');
    request.resume();
  });
  /** Closes with the body unread, so that the system resets the connection. */
  const abrupt = createNetServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.pause();
      socket.end(closing, () => socket.destroy());
    });
  });
  let sluice: SluiceProcess;
  let port: number;

  before(async () => {
    sluice = await startSluice();
    const api = apiClient(sluice.url);
    port = await freePort();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    for (const [id, server] of Object.entries({ patient, abrupt })) {
      await api.create('destinations', { id, name: id, host: '127.0.0.1', port: await listening(server) });
      const forward = { destinations: [{ destinationId: id }] };
      await api.create('routes', { name: id, match: { pathPrefix: `/${id}` }, forward });
    }
    await api.activateAs('v1');
  });

  after(async () => {
    await sluice.stop();
    patient.closeAllConnections();
    patient.close();
    abrupt.close();
  });

  it('in chunks leaves its connection to the next request: 200 uploads of node:http on one connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let connections = 0;
    for (let i = 0; i < 200; i++) {
      const request = httpRequest({ port, path: '/patient', method: 'POST', agent });
      request.once('socket', () => {
        if (!request.reusedSocket) connections++;
      });
      request.write('x'.repeat(1_000));
      const responded = once(request, 'response') as Promise<[IncomingMessage]>;
      for (let piece = 0; piece < 4; piece++) request.write('x'.repeat(50_000 + 500 * i));
      request.end();
      const [response] = await responded;
      expect([response.statusCode, await text(response)]).to.deep.equal([413, 'no']);
    }
    agent.destroy();
    expect(connections).to.equal(1);
  });

  it('is answered though the upstream resets the connection: 40 uploads of curl', async function () {
    needs(this, 'curl');
    needsNativeSockets(this);
    const body = 'x'.repeat(100_000);
    const statuses = new Set<string>();
    for (let i = 0; i < 40; i++) {
      const args = [
        '-sS',
        '--max-time',
        '10',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        '-H',
        'Expect:',
        '--data',
        body,
      ];
      const chunked = i % 2 === 0 ? ['-H', 'Transfer-Encoding: chunked'] : [];
      statuses.add((await run('curl', [...args, ...chunked, `http://127.0.0.1:${port}/abrupt`])).stdout);
    }
    expect([...statuses]).to.deep.equal(['413']);
  });
});
