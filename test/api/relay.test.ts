import { expect } from 'chai';
import { relayKey, signedFields } from '../../src/cluster/relay/relay-credential.ts';
import { encodeEnvelope, relayBodyMax } from '../../src/cluster/relay/relay-wire.ts';
import { ApiServer } from '../support/api-server.ts';
import { clusterId, createRoute, newNonce, relayServer, requestId, TakingTarget, token } from '../support/relay-bed.ts';

const { body: envelope } = encodeEnvelope({ clusterId, requestId, command: createRoute(), remainingMs: 5_000 });
const paths = ['//sync/raft', '/sync/raft'];

const signed = (path: string, body: Uint8Array) => {
  const target = path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
  const stamp = { unixMs: Date.now(), nonce: newNonce() };
  return signedFields(relayKey(token), { method: 'POST', path: target, body }, stamp);
};

describe('POST /sync/raft', () => {
  let api: ApiServer;
  let target: TakingTarget;

  beforeEach(async () => {
    target = new TakingTarget();
    const apiKeys = [{ name: 'ops', key: 'k-admin', role: 'admin' as const }];
    api = await ApiServer.start({ relay: relayServer({ target }), options: { apiKeys } });
  });

  afterEach(() => api.stop());

  for (const path of paths) {
    it(`takes a signed write at ${path} without an API key`, async () => {
      const { status, headers, json } = await api.call('POST', path, {
        body: envelope,
        headers: signed(path, envelope),
      });
      expect({ status, json }).to.deep.equal({
        status: 200,
        json: { index: 12, result: { status: 201, kind: 'routes', id: 'a' } },
      });
      expect(headers['content-type']).to.equal('application/json');
      expect(target.taken).to.have.length(1);
    });

    it(`S23: opens ${path} to no API key, not even an admin's`, async () => {
      const { status, json } = await api.call('POST', path, { body: envelope, key: 'k-admin' });
      expect({ status, json }).to.deep.equal({
        status: 401,
        json: { error: 'authorization header must use Sluice scheme' },
      });
      expect(target.taken).to.deep.equal([]);
    });

    it(`S23: takes nothing twice at ${path}`, async () => {
      const headers = signed(path, envelope);
      await api.call('POST', path, { body: envelope, headers });
      expect(await api.call('POST', path, { body: envelope, headers })).to.deep.include({
        status: 401,
        json: { error: 'the proof was used already' },
      });
      expect(target.taken).to.have.length(1);
    });
  }

  it('takes a write as large as the log takes', async () => {
    const spec = { name: 'large', value: 'x'.repeat(39 * 1024 * 1024) };
    const command = createRoute({ kind: 'secrets', spec });
    const { path, body } = encodeEnvelope({ clusterId, requestId, command, remainingMs: 5_000 });
    const { status, text } = await api.call('POST', `/${path}`, { body, headers: signed(`/${path}`, body) });
    expect(status, text).to.equal(200);
    expect(Buffer.from(command).equals(target.taken[0]?.command ?? new Uint8Array())).to.equal(true);
  });

  it('signs for one path: a proof for the other is none', async () => {
    const headers = signed('//sync/raft', envelope);
    expect(await api.call('POST', '/sync/raft', { body: envelope, headers })).to.include({ status: 401 });
  });

  describe('checks in this order', () => {
    const oversized = Buffer.alloc(relayBodyMax + 1, 0x20);

    it('credential before size', async () => {
      expect(await api.call('POST', '//sync/raft', { body: oversized })).to.include({ status: 401 });
    });

    it('credential before size, however the path is spelt', async () => {
      for (const path of ['//sync/%72aft', '/sync/raft/larg%65'])
        expect(await api.call('POST', path, { body: oversized }), path).to.include({ status: 401 });
    });

    it('size before shape', async () => {
      const headers = signed('//sync/raft', oversized);
      expect(await api.call('POST', '//sync/raft', { body: oversized, headers })).to.deep.include({
        status: 413,
        json: { error: 'body is larger than 4 MiB' },
      });
    });

    it('shape before leadership', async () => {
      await api.stop();
      const follower = new TakingTarget(() => ({ outcome: 'not-leader', leader: undefined }));
      api = await ApiServer.start({ relay: relayServer({ target: follower }) });
      const malformed = Buffer.from('{}');
      for (const [body, status] of [
        [malformed, 400],
        [envelope, 421],
      ] as const) {
        const headers = signed('//sync/raft', body);
        expect(await api.call('POST', '//sync/raft', { body, headers }), `${body}`).to.include({ status });
      }
    });

    it('a cluster before anything', async () => {
      await api.stop();
      api = await ApiServer.start();
      expect(await api.call('POST', '//sync/raft', { body: oversized })).to.deep.include({
        status: 503,
        json: { error: 'cluster mode not active' },
      });
    });
  });
});
