// A running node with listeners in sections: requests of real clients to real upstreams, by routes that are bound.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { pointerOf } from '../../src/model/problem.ts';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { listening, rawExchange } from '../support/proxy-bed.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

/** An id of the most characters that there may be. */
const long = (start: string): string => `${start}:~.${'x'.repeat(512 - start.length - 3)}`;

describe('a node with listeners in sections', () => {
  const upstreams = ['shop', 'rest', 'inside'].map((name) => ({
    name,
    server: createServer((request, response) => response.end(`${name} ${request.url}`)),
  }));
  const [web, admin] = [long('web'), long('admin')];
  let sluice: SluiceProcess;
  let api: ReturnType<typeof apiClient>;
  let port: number;
  let adminPort: number;

  before(async () => {
    sluice = await startSluice();
    api = apiClient(sluice.url);
    [port, adminPort] = [await freePort(), await freePort()];
    const sections = [{ name: 'shop', hostnames: ['shop.test', '*.shop.test'] }, { name: 'rest' }];
    await api.create('listeners', {
      ...{ id: web, name: 'web', address: '127.0.0.1', port, sections },
      metrics: { collect: { endpoint: true } },
    });
    await api.create('listeners', { id: admin, name: 'admin', address: '127.0.0.1', port: adminPort });
    await api.create('middlewares', {
      ...{ id: long('log'), name: 'log', type: 'accessLog' },
      accessLog: {
        path: join(sluice.storePath, 'logs', 'access.log'),
        onResponse: { fields: { at: '${request.listener.name}/${request.listener.section}:${request.path}' } },
      },
    });
    for (const { name, server } of upstreams) {
      await api.create('destinations', { id: long(name), name, host: '127.0.0.1', port: await listening(server) });
      await api.create('routes', {
        ...{ id: long(`route-${name}`), name, match: { pathPrefix: '/' }, middlewareIds: [long('log')] },
        listenerIds: [name === 'inside' ? admin : `${web}/${name}`],
        forward: { destinations: [{ destinationId: long(name) }] },
      });
    }
    await api.create('groups', {
      id: long('group'),
      name: 'group',
      routeIds: [long('route-rest')],
      pathPrefix: '/all',
    });
    await api.activateAs('v1');
  });
  after(async () => {
    await sluice.stop();
    for (const { server } of upstreams) server.close();
  });

  const ask = async (at: number, host: string, path: string): Promise<string> => {
    const text = await rawExchange(at, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return `${/^HTTP\/1\.1 ([0-9]+)/.exec(text)?.[1]} ${
      text
        .split('\r\n\r\n')[1]
        ?.split('\r\n')
        .find((line) => /^[a-z]+ \//.test(line)) ?? ''
    }`;
  };

  it('forwards by section, host and listener, under ids of 512 characters', async () => {
    await eventually(async () => {
      expect(await ask(port, 'shop.test', '/a')).to.equal('200 shop /a');
      expect(await ask(port, 'x.shop.test', '/a')).to.equal('200 shop /a');
      expect(await ask(port, 'else.test', '/all/a')).to.equal('200 rest /all/a');
      expect(await ask(port, 'else.test', '/a')).to.equal('404 ');
      expect(await ask(adminPort, 'shop.test', '/a')).to.equal('200 inside /a');
    });
  });

  it('names listener and section in recent requests and in access logs', async () => {
    await ask(port, 'y.shop.test', '/seen');
    await eventually(async () => {
      const where = encodeURIComponent('section == "shop" && path == "/seen"');
      const { body } = await api.get<{ requests: object[] }>(`/requests?where=${where}`);
      const [request] = body.requests;
      expect(request).to.include({ listener: 'web', listenerId: web, section: 'shop', destination: long('shop') });
      expect(readFileSync(join(sluice.storePath, 'logs', 'access.log'), 'utf8')).to.contain('at=web/shop:/seen\n');
    });
  });

  it('has the ids in its metrics', async () => {
    const text = await rawExchange(port, 'GET /metrics HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
    expect(text).to.contain(`sluice_destination_requests_total{destination="${long('shop')}"`);
  });

  it('explains a request on a listener by its name', async () => {
    const question = { url: '/a', listener: 'web', headers: { host: 'shop.test' } };
    const { body } = await api.post<{ winner: { route: object } }>('/explain', question);
    expect(body).to.deep.include({ listener: { id: web, name: 'web', port, section: 'shop' }, priority: 0 });
    expect(body.winner.route).to.deep.equal({ id: long('route-shop'), name: 'shop' });
  });

  it('captures what is bound to a listener that is gone with a warning, refuses it when strict, and serves it nowhere', async () => {
    expect((await api.delete(`/listeners/${admin}`)).status).to.equal(204);
    await api.create('listeners', { id: 'again', name: 'admin', address: '127.0.0.1', port: adminPort });
    const place = pointerOf('routes', long('route-inside'), 'listenerIds', 0);
    const strict = await api.post('/snapshots?strict=true', { name: 'strict' });
    expect(strict.status).to.equal(400);
    expect(JSON.stringify(strict.body)).to.contain(place);
    const made = await api.post<{ id: string; warnings: object[] }>('/snapshots', { name: 'v2' });
    expect(made.status).to.equal(201);
    expect(JSON.stringify(made.body.warnings)).to.contain(place);
    expect((await api.post(`/snapshots/${made.body.id}/activate`)).status).to.equal(200);
    await eventually(async () => expect(await ask(adminPort, 'shop.test', '/a')).to.equal('404 '));
    expect(await ask(port, 'shop.test', '/a')).to.equal('200 shop /a');
  });
});
