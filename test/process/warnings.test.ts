import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

interface Created {
  readonly warnings: readonly { pointer: string; message: string }[];
}

describe('the warnings of a new snapshot', () => {
  let sluice: SluiceProcess;

  before(async () => {
    sluice = await startSluice();
  });

  after(() => sluice.stop());

  it('name each place once, by the id of its entity', async () => {
    const api = apiClient(sluice.url);
    const port = await freePort();
    for (const id of ['first', 'second']) await api.create('listeners', { id, name: id, address: '127.0.0.1', port });
    await api.create('routes', {
      id: 'shop',
      name: 'shop',
      forward: { destinations: [{ destinationId: 'gone' }], mirror: { destinationId: 'nowhere' } },
    });
    await api.create('groups', { id: 'all', name: 'all', routeIds: ['none'] });
    const { body } = await api.post<Created>('/snapshots', { name: 'v1' });
    const pointers = body.warnings.map(({ pointer }) => pointer);
    expect(new Set(pointers).size, pointers.join('\n')).to.equal(pointers.length);
    expect(pointers).to.include.members([
      '/listeners/second/port',
      '/routes/shop/forward/destinations/0/destinationId',
      '/routes/shop/forward/mirror/destinationId',
      '/groups/all/routeIds/0',
    ]);
    for (const pointer of pointers) expect(pointer).to.match(/^\/\w+\/(second|shop|all)\//);
  });
});
