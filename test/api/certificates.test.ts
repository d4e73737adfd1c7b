// Ends of certificates as the API lists them (contract.md §3.8).
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';

const dayS = 86_400;

describe('GET /certificates', () => {
  it('lists the one that ends first before others, with whole days left, below 0 when it is over', async () => {
    const nowS = Math.floor(Date.now() / 1_000);
    const api = await ApiServer.start({
      certificates: () => [
        { listener: 'web', certificate: 'tls', endsS: nowS + 13.5 * dayS },
        { listener: '', certificate: 'controlPlane.tls', endsS: nowS - 0.5 * dayS },
      ],
    });
    try {
      const { status, json } = await api.call('GET', '/certificates');
      expect(status).to.equal(200);
      expect(json).to.deep.equal([
        {
          listener: '',
          certificate: 'controlPlane.tls',
          expiresAt: new Date((nowS - 0.5 * dayS) * 1_000).toISOString(),
          daysLeft: -1,
        },
        {
          listener: 'web',
          certificate: 'tls',
          expiresAt: new Date((nowS + 13.5 * dayS) * 1_000).toISOString(),
          daysLeft: 13,
        },
      ]);
    } finally {
      await api.stop();
    }
  });
});
