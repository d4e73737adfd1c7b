// Explanations of connections of tcp listeners (layer4.md §7).
import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { Explainer } from '../../../../src/proxy/explain/explainer.ts';

const forward = (destinationId: string) => ({ destinations: [{ destinationId }] });
const configuration: Configuration = {
  listeners: [
    {
      ...{ id: 'tcp', name: 'databases', port: 5432, protocol: 'tcp', tls: { mode: 'passthrough' } },
      sections: [{ name: 'shop', hostnames: ['*.shop.test'] }],
    },
    { id: 'web', name: 'web', port: 80 },
  ],
  destinations: [{ id: 'd', name: 'd', host: '10.0.0.1', port: 5432 }],
  routes: [{ id: 'r', name: 'r', directResponse: { status: 200 } }],
  groups: [],
  middlewares: [],
  streamRoutes: [
    { id: 's', name: 'shop', match: { listenerIds: ['tcp/shop'], sni: ['db.shop.test'] }, forward: forward('d') },
    {
      id: 'n',
      name: 'nowhere',
      match: { sni: ['x.shop.test'], clientCidrs: ['10.0.0.0/8'] },
      forward: forward('none'),
    },
  ],
};

const explain = (listener: string, sni?: string, clientIp = '127.0.0.1') =>
  new Explainer().explainAny(undefined, () => configuration, {
    ...{ method: 'GET', url: '/', headers: {}, body: '', clientIp, listener },
    ...(sni !== undefined && { sni }),
  });

describe('the explanation of a connection', () => {
  it('names the stream route, the section and the destinations', async () => {
    const explained = await explain('databases', 'DB.shop.test.');
    expect(explained).to.deep.include({
      connection: { sni: 'db.shop.test', clientIp: '127.0.0.1' },
      listener: { id: 'tcp', name: 'databases', port: 5432, section: 'shop' },
      streamRoute: { id: 's', name: 'shop' },
    });
    expect(explained.outcome).to.have.property('action', 'stream');
    expect(explained.outcome).to.have.nested.property('destinations[0].endpoint', '10.0.0.1:5432');
  });

  it('says why a connection is closed', async () => {
    for (const [sni, clientIp, streamRoute, error] of [
      ['other.test', '127.0.0.1', null, 'no_route'],
      [undefined, '127.0.0.1', null, 'no_route'],
      ['x.shop.test', '127.0.0.1', null, 'no_route'],
      ['x.shop.test', '10.1.2.3', { id: 'n', name: 'nowhere' }, 'no_destination'],
    ] as const)
      expect(await explain('tcp', sni, clientIp)).to.deep.include({ streamRoute, outcome: { action: 'close', error } });
  });

  it('is that of a request on a listener of HTTP', async () => {
    expect((await explain('web')).outcome).to.deep.equal({ action: 'directResponse', status: 200 });
  });
});
