import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { ClusterOf, statusOfFour } from '../support/cluster-of.ts';

const apiKeys = [{ name: 'ops', key: 'k-admin', role: 'admin' as const }];

describe('operations on the cluster', () => {
  let leader: ApiServer;
  let follower: ApiServer;
  let led: ClusterOf;
  let following: ClusterOf;

  /** Two APIs: the follower's cluster names the leader's address. */
  beforeEach(async () => {
    led = new ClusterOf(statusOfFour);
    leader = await ApiServer.start({ cluster: led, options: { apiKeys } });
    const clientAddress = `127.0.0.1:${leader.api.address.port}`;
    const members = statusOfFour.config.members.map((member) =>
      member.id === 'a#1' ? { ...member, clientAddress } : member,
    );
    following = new ClusterOf({
      ...statusOfFour,
      id: 'b#2',
      role: 'follower',
      peers: [],
      config: { ...statusOfFour.config, members },
    });
    follower = await ApiServer.start({ cluster: following, options: { apiKeys } });
  });

  afterEach(async () => {
    await follower.stop();
    await leader.stop();
  });

  const key = 'k-admin';
  type Row = [method: string, path: string, body: unknown, status: number];
  const rows: Row[] = [
    ['GET', '/cluster', undefined, 200],
    ['POST', '/cluster/members', {}, 400],
    ['POST', '/cluster/members', { nodeId: 'e', address: 7 }, 400],
    ['POST', '/cluster/members', { nodeId: 'd', address: '10.0.0.4:7000' }, 201],
    ['POST', '/cluster/members?fieldValidation=strict', { nodeId: 'd', address: '10.0.0.4:7000', voter: true }, 400],
    ['POST', '/cluster/members', { nodeId: 'x', address: 'x:1' }, 409],
    ['POST', '/cluster/members', { nodeId: 'x', address: '[::1]:65535' }, 409],
    ...['nonsense', '10.0.0.4', '10.0.0.4:0', '10.0.0.4:99999', ':7000', '::1:7000', 'a b:7000', 'http://a:7000'].map(
      (address): Row => ['POST', '/cluster/members', { nodeId: 'x', address }, 400],
    ),
    ['POST', '/cluster/members/d/promote', undefined, 200],
    ['POST', '/cluster/members/x/promote', undefined, 404],
    ['POST', '/cluster/members/c/replace', { by: 'd' }, 200],
    ['POST', '/cluster/members/c/replace', {}, 400],
    ['DELETE', '/cluster/members/c', undefined, 204],
    ['DELETE', '/cluster/members/c?force=true', undefined, 204],
    ['DELETE', '/cluster/members/c?force=perhaps', undefined, 400],
    ['POST', '/cluster/transfer', { to: 'x' }, 404],
    ['POST', '/cluster/transfer', { to: 'a' }, 200],
    ['POST', '/cluster/transfer', { to: 3 }, 400],
    ['POST', '/cluster/transfer', { from: 'x' }, 404],
    ['POST', '/cluster/transfer', { from: 'b' }, 200],
    ['POST', '/cluster/transfer', { from: 3 }, 400],
    // Without a target: to any other voter, of which none is up to date here.
    ['POST', '/cluster/transfer', { to: null }, 503],
  ];
  for (const [method, path, body, status] of rows) {
    it(`${method} ${path} ${JSON.stringify(body) ?? ''} is ${status}, the same on a follower`, async () => {
      const own = await leader.call(method, path, { key, body });
      expect(own.status, own.text).to.equal(status);
      const passed = await follower.call(method, path, { key, body });
      expect(passed.status, passed.text).to.equal(status);
      if (method !== 'GET') expect(passed.text).to.equal(own.text);
      expect(passed.headers['retry-after']).to.equal(own.headers['retry-after']);
      expect(following.changes).to.deep.equal([]);
      const half = led.changes.length / 2;
      expect(led.changes.slice(half)).to.deep.equal(led.changes.slice(0, half));
    });
  }

  it('names the field that is wrong by its JSON pointer, as the rest of the API does', async () => {
    const text = 'must be a text of 1 to 256 characters';
    const refusals: [path: string, body: object, error: string][] = [
      ['members', { nodeId: 'x', address: 'nonsense' }, '/address must be host:port, for example 10.0.0.4:7000'],
      ['members', { address: 'x:1' }, `/nodeId ${text}`],
      ['members', { nodeId: 'x', address: null }, `/address ${text}`],
      ['members/c/replace', { by: '' }, `/by ${text}`],
      ['transfer', { to: 3 }, `/to ${text}`],
    ];
    for (const [path, body, error] of refusals) {
      const { status, json } = await leader.call('POST', `/cluster/${path}`, { key, body });
      expect({ status, json }).to.deep.equal({ status: 400, json: { error } });
    }
  });

  const withStrangers: [path: string, body: object, status: number][] = [
    ['members', { nodeId: 'd', address: '10.0.0.4:7000', 'a/b': 1 }, 201],
    ['members/d/promote', { 'a/b': null }, 200],
    ['members/c/replace', { by: 'd', 'a/b': {} }, 200],
    ['transfer', { to: 'a', 'a/b': 1 }, 200],
  ];
  for (const [path, body, status] of withStrangers) {
    it(`drops and names a field that POST /cluster/${path} does not know, as the rest of the API does`, async () => {
      for (const node of [leader, follower]) {
        const post = (query: string) => node.call('POST', `/cluster/${path}${query}`, { key, body });
        const warned = await post('');
        expect(warned.status, warned.text).to.equal(status);
        expect(warned.headers.warning).to.equal('299 sluice "unknown field /a~1b"');
        const ignored = await post('?fieldValidation=ignore');
        expect(ignored.status, ignored.text).to.equal(status);
        expect(ignored.headers).to.not.have.property('warning');
        const strict = await post('?fieldValidation=strict');
        expect(strict).to.deep.include({ status: 400, json: { error: 'unknown field /a~1b' } });
      }
    });
  }

  it('takes the address that a waiting node advertises, in any form', async () => {
    const waiting = { id: 'e#5', address: ':7000', clientAddress: '' };
    led.now = { ...statusOfFour, candidates: [waiting] };
    await leader.call('POST', '/cluster/members', { key, body: { nodeId: 'e', address: ':7000' } });
    expect(led.changes.map(({ change }) => change)).to.deep.equal([{ op: 'addLearner', member: waiting }]);
  });

  it('is asked of the leader with the credential of the caller', async () => {
    expect(await follower.call('GET', '/cluster', { key: 'another' })).to.include({ status: 401 });
    expect(await follower.call('GET', '/cluster')).to.include({ status: 401 });
  });

  it('shows what the follower knows while the leader is away, and refuses changes', async () => {
    await leader.stop();
    const { status, json } = await follower.call('GET', '/cluster', { key });
    expect(status).to.equal(200);
    expect(json).to.include({ leader: 'a', clusterId: 'cluster-a' });
    expect(await follower.call('POST', '/cluster/members/d/promote', { key })).to.include({ status: 503 });
  });

  it('is passed on once: 421 never reaches a caller', async () => {
    led.now = { ...statusOfFour, id: 'c#3', role: 'follower', leader: 'b#2', peers: [] };
    const { status, json } = await follower.call('POST', '/cluster/members/d/promote', { key });
    expect({ status, json }).to.deep.equal({
      status: 503,
      json: { error: 'no node leads the cluster at the moment' },
    });
  });

  it('backs nothing up without encryption: the secrets would be readable', async () => {
    expect(await leader.call('GET', '/cluster/backup', { key })).to.deep.include({
      status: 409,
      json: { error: 'a backup would hold secrets in plain text: set controlPlane.encryption.key' },
    });
  });
});
