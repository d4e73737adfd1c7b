// Age of secrets over the API (contract.md §3.3): the log's time at which their value was set.
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';

interface Listed {
  readonly id: string;
  readonly changedAt?: string | null;
}

describe('the time at which a secret was set', () => {
  let api: ApiServer;
  before(async () => {
    api = await ApiServer.start();
  });
  after(() => api.stop());

  const timeOf = async (id: string): Promise<string> => {
    const { json } = await api.call('GET', '/secrets?changedAt=true');
    const found = (json as Listed[]).find((each) => each.id === id)?.changedAt;
    expect(found).to.be.a('string');
    return found ?? '';
  };
  const put = async (value: string, more: object = {}): Promise<void> => {
    const { status, text } = await api.call('PUT', '/secrets/s', { body: { name: 's', value, ...more } });
    expect(status, text).to.equal(200);
  };

  it('is in lists that ask for it, and changes with the value alone', async () => {
    expect((await api.call('POST', '/secrets', { body: { id: 's', name: 's', value: 'one' } })).status).to.equal(201);
    const set = await timeOf('s');
    expect(Date.parse(set)).to.be.closeTo(Date.now(), 60_000);
    while (Date.now() <= Date.parse(set)) await new Promise((resolve) => setTimeout(resolve, 1));
    await put('one', { owner: 'team' });
    expect(await timeOf('s')).to.equal(set);
    await put('two');
    expect(Date.parse(await timeOf('s'))).to.be.greaterThan(Date.parse(set));
    const plain = (await api.call('GET', '/secrets')).json as Listed[];
    expect(Object.keys(plain[0] ?? {}).sort()).to.deep.equal(['id', 'name', 'owner']);
  });

  it('is that of the batch that set it', async () => {
    const operations = [{ op: 'upsert', kind: 'secrets', id: 'b', body: { name: 'b', value: 'x' } }];
    const { status, json } = await api.call('POST', '/batch', { body: { operations } });
    expect(status, JSON.stringify(json)).to.equal(200);
    const list = (await api.call('GET', '/secrets?changedAt=true')).json as (Listed & { name: string })[];
    expect(Date.parse(list.find(({ name }) => name === 'b')?.changedAt ?? '')).to.be.closeTo(Date.now(), 60_000);
  });

  it('is in no list of another kind, and takes no other word', async () => {
    expect((await api.call('GET', '/secrets?changedAt=yes')).status).to.equal(400);
    await api.call('POST', '/groups', { body: { name: 'g', routeIds: [] } });
    const [group] = (await api.call('GET', '/groups?changedAt=true')).json as object[];
    expect(group).to.not.have.property('changedAt');
  });
});
