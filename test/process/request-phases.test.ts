// Phases of a request: what the log of recent requests says of real upstreams that are slow in one of them.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type SilentPort, silentPort } from '../support/silent-port.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

interface Recent {
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly proxyMs: number;
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly transferMs: number;
}

/** Time that an upstream waits. Timers never end early, but clocks are read in whole ticks. */
const waitMs = 80;
const leastMs = waitMs - 10;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, waitMs));

describe('phases of a request', () => {
  let sluice: SluiceProcess;
  let upstream: Server;
  let silent: SilentPort;
  let port: number;
  const bodies = new Map<string, ServerResponse>();

  before(async () => {
    upstream = createServer((request, response) => {
      const path = request.url ?? '';
      if (path !== '/slow-head') {
        response.write('head');
        bodies.set(path, response);
      } else void pause().then(() => response.end('late'));
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    [sluice, silent, port] = await Promise.all([
      startSluice({ more: 'proxy: { workers: 1 }\n' }),
      silentPort(),
      freePort(),
    ]);
    const api = apiClient(sluice.url);
    const to = async (id: string, upstreamPort: number): Promise<void> => {
      const options = { timeouts: { connect: `${waitMs}ms` } };
      await api.create('destinations', { id, name: id, host: '127.0.0.1', port: upstreamPort, options });
    };
    await to('shop', (upstream.address() as AddressInfo).port);
    await to('silent', silent.port);
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    const forward = (destinationId: string) => ({ destinations: [{ destinationId, weight: 1 }] });
    await api.create('routes', { name: 'all', match: { pathPrefix: '/' }, forward: forward('shop') });
    await api.create('routes', { name: 'away', match: { path: '/away' }, forward: forward('silent') });
    await api.create('routes', { name: 'here', match: { path: '/here' }, directResponse: { status: 204 } });
    await api.activateAs('v1');
  });
  after(async () => {
    await sluice?.stop();
    upstream?.closeAllConnections();
    upstream?.close();
    silent?.close();
  });

  const ask = async (path: string): Promise<IncomingMessage> => {
    const [response] = await once(get(`http://127.0.0.1:${port}${path}`), 'response');
    return response;
  };

  /** Returns the request, once it is in the log; its phases make up its duration. */
  async function recorded(path: string): Promise<Recent> {
    const { requests } = await eventually(async () => {
      const { body } = await apiClient(sluice.url).get<{ requests: Recent[] }>(`/requests?where=path=="${path}"`);
      expect(body.requests).to.have.lengthOf(1);
      return body;
    });
    const [request] = requests;
    if (request === undefined) throw new Error('no request');
    const { durationMs, proxyMs, connectMs, firstByteMs, transferMs } = request;
    expect(proxyMs + connectMs + firstByteMs + transferMs).to.be.closeTo(durationMs, 0.01);
    return request;
  }

  it('without an upstream are the proxy alone', async () => {
    (await ask('/here')).resume();
    const { connectMs, firstByteMs, transferMs } = await recorded('/here');
    expect([connectMs, firstByteMs, transferMs]).to.deep.equal([0, 0, 0]);
  });

  it('show an upstream that is slow to answer, and one that is slow to end', async () => {
    (await ask('/slow-head')).resume();
    expect((await recorded('/slow-head')).firstByteMs).to.be.at.least(leastMs);
    const response = await ask('/slow-end');
    await pause();
    bodies.get('/slow-end')?.end();
    response.resume();
    await once(response, 'end');
    expect((await recorded('/slow-end')).transferMs).to.be.at.least(leastMs);
  });

  it('show an upstream that takes no connection', async () => {
    const response = await ask('/away');
    expect(response.statusCode).to.be.oneOf([502, 504]);
    response.resume();
    const { connectMs, firstByteMs, transferMs } = await recorded('/away');
    expect(connectMs).to.be.at.least(leastMs);
    expect([firstByteMs, transferMs]).to.deep.equal([0, 0]);
  });
});
