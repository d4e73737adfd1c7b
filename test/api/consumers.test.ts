import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkConfig } from '../../src/proxy/config-check.ts';
import { ApiServer } from '../support/api-server.ts';
import type { Answer } from '../support/http-call.ts';

const key = 'CANARY-key-of-a-consumer';
const hash = `sha256:${createHash('sha256').update(key).digest('hex')}`;
const consumer = (name: string, ...keys: readonly string[]) => ({
  id: name,
  name,
  credentials: keys.map((each) => ({ type: 'apiKey', key: each })),
});

describe('consumers', () => {
  let api: ApiServer;

  const done = async (method: string, path: string, body?: object): Promise<Answer> => {
    const answer = await api.call(method, path, body && { body });
    expect(answer.status, `${method} ${path} ${answer.text}`).to.be.within(200, 204);
    return answer;
  };
  const refused = async (method: string, path: string, body: object): Promise<string> => {
    const answer = await api.call(method, path, { body });
    expect(answer.status, answer.text).to.equal(409);
    return (answer.json as { error: string }).error;
  };
  const batchOf = (...bodies: readonly object[]) => ({
    operations: bodies.map((body) => ({ op: 'upsert', kind: 'consumers', by: 'name', body })),
  });

  beforeEach(async () => {
    api = await ApiServer.start();
  });
  afterEach(() => api.stop());

  it('show the hash of a key in answers, snapshots, differences and on disk, and the key nowhere', async () => {
    const created = await done('POST', '/consumers', consumer('app', key));
    expect(created.json).to.deep.equal(consumer('app', hash));
    const snapshot = (await done('POST', '/snapshots', { name: 'one' })).json as { id: string };
    await done('POST', `/snapshots/${snapshot.id}/activate`);
    await done('PUT', '/consumers/app', { ...consumer('app', `${key}-2`, key), labels: { plan: 'gold' } });
    const answers = [
      created,
      await done('GET', '/consumers'),
      await done('GET', '/consumers/app'),
      await done('GET', '/staged/diff'),
      await done('GET', `/snapshots/${snapshot.id}?secrets=resolved`),
      await done('GET', '/debug/config'),
      await done('GET', '/findings'),
      await done('POST', '/batch?dryRun=true', batchOf(consumer('app', `${key}-3`))),
    ];
    for (const { text } of answers) expect(text).to.not.include('CANARY');
    expect(answers[4]?.text).to.include(hash);
    expect(JSON.stringify(api.feed.current), 'what proxies get').to.include(hash).and.not.include('CANARY');
    for (const text of await filesBelow(api.directory)) expect(text).to.not.include('CANARY');
  });

  it('are updated by what was read, with the same keys', async () => {
    await done('POST', '/consumers', consumer('app', key));
    const read = (await done('GET', '/consumers/app')).json as object;
    expect((await done('PUT', '/consumers/app', read)).json).to.deep.equal(consumer('app', hash));
    const same = await done('POST', '/batch?dryRun=true', batchOf(consumer('app', key)));
    expect(same.json, 'a plain key is no change either').to.have.nested.property('results[0].action', 'none');
  });

  it('have a key for themselves: the same key of another is refused, by creation and by update', async () => {
    await done('POST', '/consumers', consumer('one', key));
    await done('POST', '/consumers', consumer('two', 'other'));
    expect(await refused('POST', '/consumers', consumer('three', 'x', key))).to.equal(
      '/credentials/1 has the key of consumer "one"',
    );
    expect(await refused('PUT', '/consumers/two', consumer('two', hash))).to.equal(
      '/credentials/0 has the key of consumer "one"',
    );
    expect((await done('GET', '/consumers/two')).json)
      .to.have.nested.property('credentials[0].key')
      .not.equal(hash);
  });

  it('have a key once', async () => {
    expect(await refused('POST', '/consumers', consumer('one', key, hash))).to.equal(
      '/credentials/1 has the same key as /credentials/0',
    );
  });

  it('keep their own keys, and give those free that they lose', async () => {
    await done('POST', '/consumers', consumer('one', key));
    await done('PUT', '/consumers/one', consumer('one', key, 'second'));
    await done('PUT', '/consumers/one', consumer('one', 'second'));
    await done('POST', '/consumers', consumer('two', key));
    await done('DELETE', '/consumers/two');
    await done('POST', '/consumers', consumer('three', key));
  });

  it('have user names, and subjects of an issuer, for themselves too', async () => {
    const passwordHash = '$2y$05$be3HNIa1X6yfSHyD8WXsd.hGsAdslpabsyaEvtwZfvUQghcXq72kW';
    const credentials = [
      { type: 'basic', username: 'ann', passwordHash },
      { type: 'jwt', issuer: 'i', subject: 's' },
    ];
    await done('POST', '/consumers', { id: 'one', name: 'one', credentials });
    for (const [at, word] of ['user name', 'subject of that issuer'].entries())
      expect(await refused('POST', '/consumers', { name: 'two', credentials: [credentials[at]] })).to.equal(
        `/credentials/0 has the ${word} of consumer "one"`,
      );
    await done('POST', '/consumers', { name: 'two', credentials: [{ type: 'jwt', issuer: 'j', subject: 's' }] });
  });

  it('exchange their keys in one batch, and a batch that leaves a key to two names the operation', async () => {
    await done('POST', '/batch', batchOf(consumer('one', key), consumer('two', 'other')));
    await done('POST', '/batch', batchOf(consumer('one', 'other'), consumer('two', key)));
    const answer = await api.call('POST', '/batch', {
      body: batchOf(consumer('three', 'free'), consumer('one', 'other', key)),
    });
    expect(answer.status).to.equal(409);
    expect(answer.json).to.include({ operation: 1 });
    expect((answer.json as { error: string }).error).to.equal(
      '/operations/1: /credentials/1 has the key of consumer "two"',
    );
    expect((await api.call('GET', '/consumers/three')).status, 'nothing of it was done').to.equal(404);
  });

  it('are not brought back with a key that a staged consumer has since', async () => {
    const snapshot = { name: 'live', activate: true };
    await done('POST', '/batch', { ...batchOf(consumer('one', key)), snapshot });
    await done('PUT', '/consumers/one', consumer('one', 'new'));
    await done('POST', '/consumers', consumer('two', key));
    expect(await refused('POST', '/staged/discard', { entities: [{ kind: 'consumers', id: 'one' }] })).to.equal(
      '/credentials/0 has the key of consumer "two"',
    );
    await done('POST', '/staged/discard', {});
    expect((await done('GET', '/consumers')).json).to.deep.equal([consumer('one', hash)]);
  });

  it('with one key from two secrets are refused by the capture, which does not show the key', async () => {
    api = await restarted(api);
    for (const id of ['one', 'two']) {
      await done('POST', '/secrets', { id, name: id, value: key });
      await done('POST', '/consumers', consumer(id, `{{secret:value:${id}}}`));
    }
    const answer = await api.call('POST', '/snapshots', { body: { name: 'refused' } });
    expect(answer.status, answer.text).to.equal(400);
    expect(answer.text).to.include('/consumers/two/credentials/0').and.not.include('CANARY');
  });

  it('take keys from secrets, which proxies get as hashes', async () => {
    await done('POST', '/secrets', { id: 'k', name: 'k', value: key });
    await done('POST', '/consumers', consumer('app', '{{secret:value:k}}'));
    await done('POST', '/batch', { operations: [], snapshot: { name: 'live', activate: true } });
    expect(JSON.stringify(api.feed.current)).to.include(hash).and.not.include('CANARY');
    const lists = await done('GET', '/consumers?secrets=resolved');
    expect(lists.json).to.deep.equal([consumer('app', hash)]);
  });
});

/** Server whose captures are checked as the program checks them. */
async function restarted(former: ApiServer): Promise<ApiServer> {
  await former.stop();
  return await ApiServer.start({ checkConfig: (config) => checkConfig(config, Date.now()) });
}

/** Content of all files below a folder, as byte strings. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
}
