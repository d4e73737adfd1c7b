// S19: clients that send many bodies at a time to a route whose bodies are shown to a service. Together the bodies are
// bounded, not each alone.
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { memoryKbOf } from '../support/proc-figures.ts';
import { listening } from '../support/proxy-bed.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const mebibyte = 1 << 20;
const part = Buffer.alloc(mebibyte, 'x');

interface Upload {
  /** Resolves once all but the last byte has left. */
  readonly sent: Promise<void>;
  readonly status: Promise<number>;
  finish(): void;
  abort(): void;
}

describe('bodies that are shown to services', () => {
  const drain: RequestListener = (request, response) => {
    request.resume().on('end', () => response.end('ok'));
  };
  const service = createServer(drain);
  const upstream = createServer(drain);
  let sluice: SluiceProcess;
  let port: number;

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    sluice = await startSluice({ more: 'proxy: { workers: 1 }' });
    const api = apiClient(sluice.url);
    port = await freePort();
    // However long a busy machine takes for the uploads.
    const timeouts = { clientRequest: '0s' };
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port, timeouts });
    for (const [id, server] of Object.entries({ service, upstream }))
      await api.create('destinations', { id, name: id, host: '127.0.0.1', port: await listening(server) });
    const extAuthz = { destinationId: 'service', includeBody: true, failureModeAllow: true };
    await api.create('middlewares', { id: 'shown', name: 'shown', type: 'extAuthz', extAuthz });
    const phases = { requestHeaders: 'skip', requestBody: 'buffered', responseHeaders: 'skip', responseBody: 'none' };
    const extProc = { destinationId: 'service', mode: 'http', phases, allowOnError: true };
    await api.create('middlewares', { id: 'processed', name: 'processed', type: 'extProc', extProc });
    const forward = { destinations: [{ destinationId: 'upstream' }] };
    for (const id of ['shown', 'processed'])
      await api.create('routes', { name: id, match: { path: `/${id}` }, middlewareIds: [id], forward });
    await api.activateAs('v1');
  });

  after(async () => {
    await sluice?.stop();
    for (const server of [service, upstream]) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Sends a body of so many MiB without its last byte. */
  function upload(path: string, mebibytes: number): Upload {
    const headers = { 'content-length': mebibytes * mebibyte };
    const request = httpRequest({ port, path, method: 'POST', headers, agent: false });
    const status = new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve);
      request.on('error', reject);
    }).then(async (response) => {
      await text(response).catch(() => {});
      return response.statusCode ?? 0;
    });
    const sent = (async () => {
      for (let at = 0; at < mebibytes; at++)
        await new Promise<void>((resolve) => {
          request.write(at === mebibytes - 1 ? part.subarray(1) : part, () => resolve());
        });
    })();
    return { sent, status, finish: () => request.end(part.subarray(0, 1)), abort: () => request.destroy() };
  }

  it('are bounded together: one beyond is 503, and none once the others have passed', async () => {
    const held = Array.from({ length: 4 }, () => upload('/shown', 63));
    await Promise.all(held.map(({ sent }) => sent));
    const beyond = upload('/shown', 60);
    expect(await beyond.status).to.equal(503);
    // Twice the bytes, for growing, and the process itself.
    expect(memoryKbOf(sluice.child.pid)).to.be.lessThan(1 << 20);
    for (const each of held) each.finish();
    for (const { status } of held) expect(await status).to.equal(200);
    await eventually(async () => {
      const next = upload('/shown', 60);
      await Promise.race([next.sent, next.status]);
      next.finish();
      expect(await next.status).to.equal(200);
    });
  });

  it('are bounded for extProc too, and make room when their clients go', async () => {
    const held = Array.from({ length: 4 }, () => upload('/processed', 63));
    for (const { status } of held) status.catch(() => {});
    await Promise.all(held.map(({ sent }) => sent));
    expect(await upload('/processed', 60).status).to.equal(503);
    for (const each of held) each.abort();
    await eventually(async () => {
      const next = upload('/processed', 16);
      await Promise.race([next.sent, next.status]);
      next.finish();
      expect(await next.status).to.equal(200);
    });
  });
});
