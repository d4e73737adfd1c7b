// `sluice snapshot create` against the API.
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { sluice } from '../support/sluice-command.ts';

describe('sluice snapshot create without a name', function () {
  this.timeout(120_000);

  it('takes a name that is free where another capture of the same second has the time', async () => {
    const server = await ApiServer.start();
    try {
      const now = Date.now();
      for (let second = 0; second < 120; second += 1) {
        const name = `staged ${new Date(now + second * 1_000).toISOString().slice(0, 19).replace('T', ' ')}`;
        expect(await server.call('POST', '/snapshots', { body: { name } })).to.include({ status: 201 });
      }
      const { code, stdout } = await sluice(['snapshot', 'create', '--server', server.base, '-o', 'name']);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^snapshots\/staged [-0-9]{10} [:0-9]{8} \(2\)\n$/);
    } finally {
      await server.stop();
    }
  });
});
