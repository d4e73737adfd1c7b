import { expect } from 'chai';
import { RequestHistory } from '../../src/proxy/requests/request-history.ts';
import { newRing, RequestRing } from '../../src/proxy/requests/request-ring.ts';
import { ApiServer } from '../support/api-server.ts';
import { sluice } from '../support/sluice-command.ts';

const numbers = {
  ...{
    timeMs: Date.UTC(2026, 2, 30),
    durationMs: 1,
    proxyMs: 1,
    connectMs: 0,
    firstByteMs: 0,
    index: 42,
    oneIn: 4,
    status: 200,
    attempts: 1,
    error: '',
  },
  ...{ protocol: 'HTTP/1.1', secure: false, candidate: false },
};

describe('sluice diff --replay', function () {
  this.timeout(120_000);
  let server: ApiServer;
  let snapshot: string;

  const ask = (...args: readonly string[]) => sluice([...args, '--server', server.base]);
  const create = async (kind: string, body: object): Promise<string> => {
    const { status, json, text } = await server.call('POST', `/${kind}`, { body });
    expect(status, text).to.equal(201);
    return (json as { id: string }).id;
  };
  const route = (id: string, match: object, status = 200) =>
    create('routes', { id, name: id, match, directResponse: { status } });

  before(async () => {
    const shape = newRing(100, 1, []);
    const ring = new RequestRing(shape);
    server = await ApiServer.start({ recent: new RequestHistory(shape), nodeId: 'a' });
    await create('listeners', { id: 'edge', name: 'edge', port: 8080 });
    await route('all', { pathPrefix: '/' });
    snapshot = await create('snapshots', { name: 'first' });
    await server.call('POST', `/snapshots/${snapshot}/activate`);
    for (const path of ['/cart', '/cart', '/pay', '/other'])
      ring.write(0, numbers, ['GET', 'shop.test', '', '', '', '', '', '', 'edge', 'edge', '', path].join('\0'));
  });
  after(() => server.stop());

  it('exits with 0 where nothing differs', async () => {
    const { code, stdout, stderr } = await ask('diff', '--replay');
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.equal('no difference\nreplayed   4 requests for 16, 4 the same\n');
  });

  it('shows the change, its findings and what it does to requests, and exits with 3', async () => {
    await route('cart', { path: '/cart' });
    await route('pay', { path: '/pay', headers: [{ name: 'x-tenant', value: 'a' }] });
    const { code, stdout } = await ask('diff', 'first', 'staged', '--replay');
    expect(code).to.equal(3);
    expect(stdout).to.equal(
      'routes/cart             + created\n' +
        'routes/pay              + created\n' +
        '2 to create, 0 to change, 0 to delete\n' +
        'replayed   4 requests for 16, 1 the same\n' +
        'moved      2 requests for 8  all → cart   GET shop.test/cart\n' +
        'undecided  1  header x-tenant is not recorded\n',
    );
    const asked = await ask('diff', '--replay', '--where', 'path == "/cart"', '--limit', '1', '-o', 'json');
    const answer = JSON.parse(asked.stdout);
    expect(asked.code).to.equal(3);
    expect([answer.from, answer.replay.requests, answer.replay.moved[0].to.name]).to.deep.equal([snapshot, 1, 'cart']);
  });

  it('refuses files, flags without it, and what the server refuses', async () => {
    for (const args of [
      ['diff', '-f', 'conf/', '--replay'],
      ['diff', 'active', 'staged', '--limit', '3'],
      ['diff', '--replay', '--limit', 'x'],
    ])
      expect((await ask(...args)).code, args.join(' ')).to.equal(2);
    const { code, stderr } = await ask('diff', '--replay', '--where', 'path ==');
    expect(code).to.equal(4);
    expect(stderr).to.contain('/replay/where: cel: ');
    expect((await ask('diff', 'none', 'staged', '--replay')).code).to.equal(1);
  });
});
