import { expect } from 'chai';
import { isProvenAnswer, relayKey, signedFields } from '../../src/cluster/relay/relay-credential.ts';
import { HashServer } from '../../src/cluster/state-hash/hash-server.ts';
import { encodeHashRequest } from '../../src/cluster/state-hash/hash-wire.ts';
import { systemClock } from '../../src/util/clock.ts';
import { ApiServer } from '../support/api-server.ts';
import { clusterId, newNonce, token } from '../support/relay-bed.ts';

const path = '//sync/state-hash';
const question = encodeHashRequest(clusterId);

const signed = (body: Uint8Array) => {
  const stamp = { unixMs: Date.now(), nonce: newNonce() };
  const request = { method: 'POST', path: '/sync/state-hash', body };
  // A request without the digest is answered too.
  return { authorization: signedFields(relayKey(token), request, stamp).authorization };
};

describe('POST /sync/state-hash', () => {
  let api: ApiServer;

  afterEach(() => api.stop());

  const start = async (): Promise<void> => {
    const hashes = new HashServer({
      key: relayKey(token),
      clock: systemClock,
      clusterId: () => clusterId,
      member: async () => 'a#1',
      hashes: () => new Map([[7, '00000000000000ff']]),
    });
    api = await ApiServer.start({ hashes, options: { apiKeys: [{ name: 'ops', key: 'k-admin', role: 'admin' }] } });
  };

  it('answers a member with the state hashes of this node, and a proof of the answer', async () => {
    await start();
    const fields = signed(question);
    const { status, json, text, headers } = await api.call('POST', path, { body: question, headers: fields });
    const proof = headers['authentication-info']?.toString();
    const isProven = isProvenAnswer(relayKey(token), fields.authorization, { proof, body: Buffer.from(text) });
    expect(isProven).to.equal(true);
    expect(isProvenAnswer(relayKey(token), fields.authorization, { proof, body: Buffer.from(`${text} `) })).to.equal(
      false,
    );
    expect(
      isProvenAnswer(relayKey(token), signed(question).authorization, { proof, body: Buffer.from(text) }),
    ).to.equal(false);
    expect({ status, json }).to.deep.equal({
      status: 200,
      json: { member: 'a#1', hashes: [[7, '00000000000000ff']] },
    });
  });

  it('refuses other callers, with any API key (S23)', async () => {
    await start();
    expect(await api.call('POST', path, { body: question })).to.include({ status: 401 });
    expect(await api.call('POST', path, { body: question, key: 'k-admin' })).to.include({ status: 401 });
    expect(await api.call('GET', path, { key: 'k-admin' })).to.include({ status: 405 });
  });

  it('is 400 for a question of another cluster, or of no known form', async () => {
    await start();
    for (const body of [encodeHashRequest('cluster-b'), Buffer.from('{"v":2}'), Buffer.from('[]')])
      expect(await api.call('POST', path, { body, headers: signed(body) }), `${body}`).to.include({ status: 400 });
  });

  it('is 503 without a cluster', async () => {
    api = await ApiServer.start();
    expect(await api.call('POST', path, { body: question })).to.deep.include({
      status: 503,
      json: { error: 'cluster mode not active' },
    });
  });
});
