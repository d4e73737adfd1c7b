import { expect } from 'chai';
import { ClusterWatches } from '../../../src/controller/cluster-watches.ts';
import { Incremental } from '../../../src/controller/graph/incremental.ts';
import { ObjectStore } from '../../../src/controller/graph/object-store.ts';
import { RefusedError } from '../../../src/kubernetes/kubernetes-api.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { systemClock } from '../../../src/util/clock.ts';
import { eventually } from '../../support/eventually.ts';

/** Watches of an API that refuses the list of one kind. */
function watchesWithout(plural: string, status: number) {
  const asked: string[] = [];
  const api = {
    async list(path: string) {
      asked.push(path);
      if (path.endsWith(plural)) throw new RefusedError(status);
      return { objects: [], version: '1' };
    },
    watch: () => new Promise<void>(() => {}),
  };
  const tools = { api, clock: systemClock, logger: silentLogger, random: () => 0.5 };
  const watches = new ClusterWatches(new ObjectStore(new Incremental()), tools, {
    endpoints: 'proxy',
    onObject: () => {},
    onListed: () => {},
  });
  return { watches, asked };
}

describe('watches of the cluster', () => {
  it('are not ready while a kind may not be listed: without BackendTLSPolicies backends would be sent plain text', async () => {
    const { watches, asked } = watchesWithout('backendtlspolicies', 403);
    await eventually(() => expect(asked.filter((path) => path.endsWith('backendtlspolicies'))).to.have.length.above(1));
    expect(watches.losses().map(({ kind }) => kind)).to.deep.equal(['BackendTLSPolicy']);
    expect(watches.isReady).to.equal(false);
    watches.close();
  });

  it('are ready without a kind whose CRD is not installed', async () => {
    const { watches } = watchesWithout('backendtlspolicies', 404);
    await eventually(() => expect(watches.isReady).to.equal(true));
    expect(watches.losses()).to.deep.equal([]);
    watches.close();
  });
});
