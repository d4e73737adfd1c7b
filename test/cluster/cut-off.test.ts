// A node that is cut off from the others goes on serving what it has, and takes up the latest when it is back
// (security.md S35).
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { LinkedCluster } from '../support/linked-cluster.ts';
import { NumberedRoute } from '../support/numbered-route.ts';

const activations = 10;

describe('a proxy that is cut off (S35)', () => {
  let linked: LinkedCluster;
  let numbered: NumberedRoute;

  before(async () => {
    linked = await LinkedCluster.start();
    numbered = await NumberedRoute.begin(await linked.cluster.leader());
    for (const node of linked.cluster.nodes)
      await eventually(async () => expect(await numbered.servedBy(node)).to.equal(0));
  });

  after(() => linked.stop());

  it(`has the last of ${activations} soon after its return, and never serves an older one`, async () => {
    const [lonely, other] = await linked.cluster.followers();
    if (lonely === undefined || other === undefined) throw new Error('two followers are needed');
    const served: number[] = [];
    let active = true;
    const watching = (async () => {
      while (active) served.push(await numbered.servedBy(lonely));
    })();
    linked.isolate(lonely);
    for (let number = 1; number <= activations; number++) await numbered.activate(other, number);
    expect(await numbered.servedBy(other)).to.equal(activations);
    expect(await numbered.servedBy(lonely)).to.equal(0);
    linked.heal();
    await eventually(async () => expect(await numbered.servedBy(lonely)).to.equal(activations));
    active = false;
    await watching;
    expect(served).to.deep.equal(served.toSorted((a, b) => a - b));
  });
});
