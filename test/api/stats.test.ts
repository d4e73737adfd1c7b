// Traffic of the fleet as the API gives it (contract.md §3.7); how it adds up is tested in test/unit/traffic.
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';

interface Stats {
  readonly total: Readonly<Record<string, { readonly requestsPerSecond: number; readonly p99Ms: number | null }>>;
  readonly routes: readonly { readonly id: string; readonly name: string | null; readonly lastHit: string | null }[];
  readonly history?: readonly unknown[];
}

describe('GET /stats', () => {
  let api: ApiServer;

  before(async () => {
    api = await ApiServer.start();
  });
  after(() => api.stop());

  it('has the total of three windows, and of no traffic no percentile', async () => {
    const { status, json } = await api.call('GET', '/stats');
    expect(status).to.equal(200);
    const { total, history } = json as Stats;
    expect(Object.keys(total)).to.deep.equal(['1s', '10s', '60s']);
    expect(total['60s']).to.deep.include({ requestsPerSecond: 0, p99Ms: null });
    expect(history).to.equal(undefined);
  });

  it('answers for the routes that are asked about, with their names, in their order', async () => {
    const body = { id: 'shop', name: 'Shop', directResponse: { status: 204 } };
    await api.call('POST', '/routes', { body });
    const { json } = await api.call('GET', '/stats?routes=none,shop&history=true');
    const { routes, history } = json as Stats;
    expect(routes.map(({ id, name, lastHit }) => ({ id, name, lastHit }))).to.deep.equal([
      { id: 'none', name: null, lastHit: null },
      { id: 'shop', name: 'Shop', lastHit: null },
    ]);
    expect(history).to.be.an('array');
  });

  it('refuses an unknown order and too many routes by the name of the parameter', async () => {
    const errorOf = async (query: string): Promise<unknown> => {
      const { status, json } = await api.call('GET', `/stats?${query}`);
      expect(status).to.equal(400);
      return (json as { error: unknown }).error;
    };
    expect(await errorOf('sort=names')).to.match(/^sort must be one of/);
    expect(await errorOf(`routes=${Array.from({ length: 201 }, (_, i) => i)}`)).to.match(/^routes names more than 200/);
    expect(await errorOf('history=yes')).to.match(/history/);
  });
});
