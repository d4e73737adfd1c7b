// Build compared with its sources (docs/decisions/chunks.md).
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { needs } from '../support/needs.ts';
import { RedisServer } from '../support/redis-server.ts';
import { startSluice } from '../support/sluice-process.ts';

describe('the build', () => {
  it('names the schemas of the API as the classes of the sources are named', async () => {
    const sluice = await startSluice({ more: 'proxy: { workers: 1 }' });
    const { json } = await call(sluice.url, 'GET', '/api/v1/docs/doc.json');
    expect(await sluice.stop()).to.equal(0);
    const names = Object.keys((json as { components: { schemas: object } }).components.schemas);
    expect(names).to.include.members(['Route', 'Destination', 'Match', 'Middleware', 'RolloutRequest', 'Redirect']);
    expect(names.filter((name) => /\d$/.test(name))).to.deep.equal(['ListenerHttp2']);
  });

  it('keeps sticky sessions in Redis, whose client is imported when a store is configured', async function () {
    needs(this, 'redis-server');
    const redis = await RedisServer.start();
    try {
      const sluice = await startSluice({
        more: `proxy: { workers: 1 }\nsessionStore: { type: redis, redis: { address: '127.0.0.1:${redis.port}' } }`,
      });
      const api = apiClient(sluice.url);
      const port = await freePort();
      await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
      // The port has no listener: the session is stored before the endpoint is asked.
      const unused = await freePort();
      for (const id of ['a', 'b']) await api.create('destinations', { id, name: id, host: '127.0.0.1', port: unused });
      await api.create('routes', {
        ...{ id: 'r', name: 'r', match: { pathPrefix: '/' } },
        forward: {
          destinations: ['a', 'b'].map((destinationId) => ({ destinationId, weight: 50 })),
          destinationBalancing: { algorithm: 'STICKY' },
        },
      });
      await api.activateAs('v1');
      await eventually(async () => {
        await (await fetch(`http://127.0.0.1:${port}/`)).text();
        expect(await redis.command('KEYS sluice:sticky:*:r')).to.match(/^\*[1-9]/);
      });
      expect(await sluice.stop()).to.equal(0);
    } finally {
      await redis.kill();
    }
  });
});
