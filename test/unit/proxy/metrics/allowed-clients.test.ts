import { expect } from 'chai';
import { request as send } from 'undici';
import { freePort } from '../../../support/free-port.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';

describe('metrics of a listener with metrics.allow', () => {
  let bed: ProxyBed;
  beforeEach(() => {
    bed = new ProxyBed();
  });
  afterEach(() => bed.end());

  const ask = async (metrics: object, more: object = {}, headers: Record<string, string> = {}) => {
    const port = await freePort();
    const listeners = [{ id: 'l', name: 'l', address: '127.0.0.1', port, metrics, ...more }];
    const routes = [{ id: 'r', name: 'r', directResponse: { status: 200, body: 'routed' } }];
    await bed.install({ listeners, routes });
    const { body } = await send(`http://127.0.0.1:${port}/metrics`, { headers });
    return await body.text();
  };

  it('are shown to clients in the list, and to all where it is empty', async () => {
    for (const metrics of [{}, { allow: [] }, { allow: ['127.0.0.0/8'] }, { allow: ['::1', '127.0.0.1'] }]) {
      expect(await ask(metrics), JSON.stringify(metrics)).to.contain('sluice_listener_connections_total');
    }
  });

  it('are not there for others, whose requests are routed', async () => {
    expect(await ask({ allow: ['10.0.0.0/8'] })).to.equal('routed');
  });

  it('go by the client behind a trusted proxy, and by no header of another peer', async () => {
    const headers = { 'x-forwarded-for': '10.0.0.7' };
    const allow = { allow: ['10.0.0.0/8'] };
    expect(await ask(allow, {}, headers)).to.equal('routed');
    expect(await ask(allow, { trustedProxies: ['127.0.0.1'] }, headers)).to.contain('sluice_listener_');
  });
});
