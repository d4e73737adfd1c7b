// A node that is cut off from the others goes on serving what it has, and takes up the latest when it is back
// (security.md S35).
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { LinkedCluster } from '../support/linked-cluster.ts';
import type { ClusterNode } from '../support/node-cluster.ts';

const activations = 10;

const routeOf = (number: number) => ({
  id: 'numbered',
  name: 'numbered',
  directResponse: { status: 200, body: String(number) },
});

describe('a proxy that is cut off (S35)', function () {
  this.timeout(120_000);
  let linked: LinkedCluster;
  let port: number;

  before(async () => {
    linked = await LinkedCluster.start();
    port = await freePort();
    const { api } = await linked.cluster.leader();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    await api.create('routes', routeOf(0));
    await api.activateAs('activation-0');
    for (const node of linked.cluster.nodes) await eventually(async () => expect(await servedBy(node)).to.equal(0));
  });

  after(() => linked.stop());

  const servedBy = async ({ proxyAddress }: ClusterNode): Promise<number> => {
    const { status, text } = await call(`http://${proxyAddress}:${port}`, 'GET', '/');
    expect(status).to.equal(200);
    return Number(text);
  };

  it(`has the last of ${activations} within 2 s of its return, and never serves an older one`, async () => {
    const [lonely, other] = await linked.cluster.followers();
    if (lonely === undefined || other === undefined) throw new Error('two followers are needed');
    const served: number[] = [];
    let active = true;
    const watching = (async () => {
      while (active) served.push(await servedBy(lonely));
    })();
    linked.isolate(lonely);
    for (let number = 1; number <= activations; number++) {
      await other.api.put('/routes/numbered', routeOf(number));
      await other.api.activateAs(`activation-${number}`);
    }
    expect(await servedBy(other)).to.equal(activations);
    expect(await servedBy(lonely)).to.equal(0);
    linked.heal();
    await eventually(async () => expect(await servedBy(lonely)).to.equal(activations), { withinMs: 2_000 });
    active = false;
    await watching;
    expect(served).to.deep.equal(served.toSorted((a, b) => a - b));
  });
});
