// Disks of the nodes as the API lists them (contract.md §3.8).
import { expect } from 'chai';
import { measureDisks } from '../../src/fleet/node-disks.ts';
import { ApiServer } from '../support/api-server.ts';

describe('GET /disks', () => {
  it('lists the disk of the store of each node, and what keeps the store from being written', async () => {
    const path = process.cwd();
    let problem: string | null = null;
    const api = await ApiServer.start({
      disks: async () => ({ disks: await measureDisks([path, `${path}/nowhere`]), problem }),
    });
    try {
      const { status, json } = await api.call('GET', '/disks');
      expect(status).to.equal(200);
      const [node, ...others] = json as Node[];
      expect(others).to.deep.equal([]);
      expect(node).to.include({ nodeId: 'single', problem: null });
      expect(node?.disks.map((disk) => disk.path)).to.deep.equal([path]);
      const { freeBytes = -1, totalBytes = -1, state } = node?.disks[0] ?? {};
      expect(freeBytes).to.be.within(0, totalBytes);
      expect(state).to.be.oneOf(['fine', 'low', 'full']);
      problem = 'storage waits: no space left';
      expect((await api.call('GET', '/disks')).json).to.have.nested.property('[0].problem', problem);
    } finally {
      await api.stop();
    }
  });
});

interface Node {
  readonly nodeId: string;
  readonly problem: string | null;
  readonly disks: readonly {
    readonly path: string;
    readonly freeBytes: number;
    readonly totalBytes: number;
    readonly state: string;
  }[];
}
