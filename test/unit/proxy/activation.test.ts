import { expect } from 'chai';
import { Agent, request as send } from 'undici';
import { freePort } from '../../support/free-port.ts';
import { ProxyBed, rawExchange } from '../../support/proxy-bed.ts';

describe('an activation', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const listener = (id: string, at: number, extra: object = {}) => ({ id, name: id, port: at, ...extra });
  const answering = (body: string) => [{ id: 'r', name: 'r', directResponse: { status: 200, body } }];

  it('changes what is served on a connection that stays open', async () => {
    const agent = new Agent({ connections: 1 });
    bed.atEnd(() => agent.destroy());
    const body = async () => (await send(`http://127.0.0.1:${port}/`, { dispatcher: agent })).body.text();
    await bed.install({ listeners: [listener('l', port)], routes: answering('old') });
    expect(await body()).to.equal('old');
    await bed.install({ listeners: [listener('l', port, { serverName: 'sluice' })], routes: answering('new') });
    expect(await body()).to.equal('new');
    const { headers } = await send(`http://127.0.0.1:${port}/`, { dispatcher: agent });
    expect(headers.server).to.equal('sluice');
  });

  it('is passed over when its index is not higher', async () => {
    await bed.install({ listeners: [listener('l', port)], routes: answering('second') });
    bed.source.publish(0, { listeners: [listener('l', port)], routes: answering('first') });
    expect(await (await send(`http://127.0.0.1:${port}/`)).body.text()).to.equal('second');
  });

  it('closes the ports that are gone and opens the new ones', async () => {
    const other = await freePort();
    await bed.install({ listeners: [listener('l', port)], routes: answering('x') });
    await bed.install({ listeners: [listener('l', other)], routes: answering('x') });
    expect((await send(`http://127.0.0.1:${other}/`)).statusCode).to.equal(200);
    expect(await rawExchange(port, '').catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ECONNREFUSED');
  });

  it('is not held up by a listener that cannot open', async () => {
    const busy = await bed.upstream((_request, response) => void response.end());
    const listeners = [listener('a', busy), listener('b', port), listener('c', port), listener('d', 1, { tls: {} })];
    await bed.install({ listeners, routes: answering('x') });
    const state = Object.fromEntries(bed.proxy.listeners().map((status) => [status.id, status.state]));
    expect(state).to.deep.equal({ a: 'waiting', b: 'open', c: 'closed', d: 'closed' });
    expect(await bed.proxy.installed(1, 0)).to.deep.equal({ done: 1, of: 1 });
  });

  it('keeps the former configuration when the new one cannot be compiled', async () => {
    await bed.install({ listeners: [listener('l', port)], routes: answering('good') });
    const broken = { id: 'r', name: 'r', match: { pathRegex: '(' }, directResponse: { status: 200, body: 'bad' } };
    bed.source.publish(9, { listeners: [listener('l', port)], routes: [broken] });
    expect(await bed.proxy.installed(9, 50)).to.deep.equal({ done: 0, of: 1 });
    expect(await (await send(`http://127.0.0.1:${port}/`)).body.text()).to.equal('good');
  });
});
