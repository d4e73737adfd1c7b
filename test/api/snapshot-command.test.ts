// `sluice snapshot create` against the API.
import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';

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
      const program = ['--import', './test/support/decorators.mjs', 'src/main.ts', 'snapshot', 'create'];
      const [failure, output] = await new Promise<[unknown, string]>((resolve) => {
        execFile(process.execPath, [...program, '--server', server.base, '-o', 'name'], (error, stdout) =>
          resolve([error, stdout]),
        );
      });
      expect(failure).to.equal(null);
      expect(output).to.match(/^snapshots\/staged [-0-9]{10} [:0-9]{8} \(2\)\n$/);
    } finally {
      await server.stop();
    }
  });
});
