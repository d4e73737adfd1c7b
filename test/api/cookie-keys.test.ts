// Keys of signed session cookies over the API (contract.md §3.8).
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';

interface Shown {
  readonly id: string;
  readonly madeAt: string;
  readonly use: string;
}

describe('keys of signed cookies', () => {
  let api: ApiServer;
  afterEach(() => api.stop());

  const keys = async (method: 'GET' | 'POST', path: string): Promise<Shown[]> => {
    const { status, json, text } = await api.call(method, path);
    expect(status, text).to.equal(200);
    return json as Shown[];
  };

  it('are made by hand, the newest first: the newest but one seals, eight are kept', async () => {
    api = await ApiServer.start();
    expect(await keys('GET', '/cookie-keys')).to.deep.equal([]);
    const [first] = await keys('POST', '/cookie-keys/rotate');
    expect(first).to.deep.include({ use: 'seals' });
    expect(first?.id).to.match(/^[0-9a-f]{8}$/);
    expect(Date.parse(first?.madeAt ?? '')).to.be.closeTo(Date.now(), 60_000);
    const second = await keys('POST', '/cookie-keys/rotate');
    expect(second.map(({ use }) => use)).to.deep.equal(['next', 'seals']);
    expect(second[1]).to.deep.equal(first);
    for (let made = 3; made <= 9; made++) await keys('POST', '/cookie-keys/rotate');
    const all = await keys('GET', '/cookie-keys');
    expect(all.map(({ use }) => use)).to.deep.equal(['next', 'seals', ...Array(6).fill('opens')]);
    expect(new Set(all.map(({ id }) => id))).to.have.property('size', 8);
    expect(all.map(({ id }) => id))
      .to.include(second[0]?.id)
      .and.not.include(first?.id);
  });

  it('are made once where a request is repeated under its Idempotency-Key', async () => {
    api = await ApiServer.start();
    const rotate = (headers: Record<string, string>, body?: object) =>
      api.call('POST', '/cookie-keys/rotate', { headers, ...(body !== undefined && { body }) });
    const first = await rotate({ 'idempotency-key': 'k' });
    const again = await rotate({ 'idempotency-key': 'k' });
    expect([again.status, again.json]).to.deep.equal([200, first.json]);
    expect(await keys('GET', '/cookie-keys')).to.deep.equal(first.json);
    expect((await rotate({ 'idempotency-key': 'k' }, { other: true })).status).to.equal(422);
    expect((await rotate({ 'idempotency-key': 'a b' })).status).to.equal(400);
    expect(await keys('GET', '/cookie-keys')).to.have.length(1);
  });

  it('are not made for a body that asks for something', async () => {
    api = await ApiServer.start();
    const refused = await api.call('POST', '/cookie-keys/rotate?fieldValidation=strict', { body: { dryRun: true } });
    expect([refused.status, refused.json]).to.deep.equal([400, { error: 'unknown field /dryRun' }]);
    expect((await api.call('POST', '/cookie-keys/rotate', { body: [] })).status).to.equal(400);
    expect(await keys('GET', '/cookie-keys')).to.have.length(0);
  });

  it('are in no answer and, where the store is encrypted, in no file', async () => {
    api = await ApiServer.start({ encryptionKey: Buffer.alloc(32, 7) });
    await keys('POST', '/cookie-keys/rotate');
    const held = await eventually(() => {
      const found = api.feed.cookieKeys.current.keys[0]?.key;
      if (found === undefined) throw new Error('no key');
      return found;
    });
    const forms = [held, Buffer.from(held, 'base64').toString('hex'), Buffer.from(held, 'base64').toString('latin1')];
    const paths = ['/cookie-keys', '/staged/diff', '/debug/config', '/cluster', '/activations', '/whoami', '/fleet'];
    for (const path of paths) {
      const { status, text } = await api.call('GET', path);
      expect(status, path).to.equal(200);
      for (const form of forms) expect(text.includes(form), path).to.equal(false);
    }
    const backup = await api.call('GET', '/cluster/backup');
    expect(backup.status).to.equal(200);
    expect(backup.text.includes(held)).to.equal(false);
    const files = readdirSync(api.directory, { recursive: true, encoding: 'utf8' })
      .map((name) => join(api.directory, name))
      .filter((path) => statSync(path).isFile());
    expect(files).to.not.have.length(0);
    for (const file of files) {
      const bytes = readFileSync(file).toString('latin1');
      for (const form of forms) expect(bytes.includes(form), file).to.equal(false);
    }
  });
});
