import { expect } from 'chai';
import { boundsOf } from '../../../../src/proxy/socket/descriptors.ts';

describe('bounds of descriptors', () => {
  it('let the API keep 4,096 connections from 9,216 descriptors on', () => {
    for (const limit of [9_216, 20_000, 1_048_576]) expect(boundsOf(limit).api.connections, `${limit}`).to.equal(4_096);
  });

  it('keep what the API and clients take together below the reserve', () => {
    for (const limit of [64, 128, 256, 1_024, 4_096, 20_000]) {
      const { api, clients, upstreams } = boundsOf(limit);
      expect(api.assured, `${limit}`).to.be.at.most(api.connections);
      expect(api.connections, `${limit}`).to.be.below(clients);
      expect(clients, `${limit}`).to.be.below(upstreams);
      expect(upstreams, `${limit}`).to.be.below(limit);
    }
  });
});
