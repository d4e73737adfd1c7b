import { expect } from 'chai';
import { CuttableLink } from '../support/cuttable-link.ts';
import { eventually } from '../support/eventually.ts';
import { NodeCluster } from '../support/node-cluster.ts';

describe('a leader that is cut off', () => {
  let cluster: NodeCluster;
  const links: { readonly from: string; readonly to: string; readonly link: CuttableLink }[] = [];

  before(async () => {
    cluster = await NodeCluster.start({
      via: async (from, to, { raft }) => {
        const link = await CuttableLink.to(raft);
        links.push({ from, to, link });
        return link.port;
      },
    });
  });

  after(async () => {
    await cluster.stop();
    await Promise.all(links.map(({ link }) => link.close()));
  });

  it('is replaced, acknowledges nothing meanwhile, and follows when it is back', async () => {
    const former = await cluster.leader();
    const others = cluster.nodes.filter((node) => node !== former);
    await former.api.create('groups', { name: 'before' });
    for (const { from, to, link } of links)
      if ([from, to].includes(former.nodeId)) link.cut({ there: true, back: true });
    const created = await eventually(() => others[0]?.api.create('groups', { name: 'during' }));
    const lonely = await former.api.post('/groups', { name: 'alone' });
    expect([201, 503, 504]).to.include(lonely.status);
    if (lonely.status === 201) expect((await others[1]?.api.get(`/groups/${lonely.body.id}`))?.status).to.equal(200);
    for (const { link } of links) link.heal();
    await eventually(async () => expect((await former.api.get(`/groups/${created}`)).status).to.equal(200), {
      withinMs: 60_000,
    });
    const lists = await Promise.all(cluster.nodes.map(({ api }) => api.get('/groups')));
    for (const { body } of lists) expect(body).to.deep.equal(lists[0]?.body);
  });
});
