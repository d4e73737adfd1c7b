// What is built of the sources says the same as the sources (docs/decisions/chunks.md).
import { expect } from 'chai';
import { call } from '../support/http-call.ts';
import { startSluice } from '../support/sluice-process.ts';

describe('the build', () => {
  it('names the schemas of the API as the classes of the sources are named', async () => {
    const sluice = await startSluice({ more: 'proxy: { workers: 1 }' });
    const { json } = await call(sluice.url, 'GET', '/api/v1/docs/doc.json');
    expect(await sluice.stop()).to.equal(0);
    const names = Object.keys((json as { components: { schemas: object } }).components.schemas);
    expect(names).to.include.members(['Route', 'Destination', 'Match', 'Middleware', 'RolloutRequest', 'Redirect']);
    expect(names.filter((name) => /\d$/.test(name))).to.deep.equal(['ListenerHttp2']);
  });
});
