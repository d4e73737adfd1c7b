// `status` and `cluster doctor` where the cluster is in trouble.
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { answer, closeStubs, stub } from '../support/stub-server.ts';

const member = {
  ...{ nodeId: 'a', incarnation: 1, role: 'voter', raftAddress: '127.0.0.1:1', apiAddress: '' },
  ...{ match: null, lag: null, healthy: null, clockOffsetSeconds: null },
};
const cluster = {
  ...{ clustered: true, clusterId: 'c', leader: null, term: 7, commit: 12, applied: 12 },
  ...{ log: { first: 1, last: 12, lastTerm: 7 }, members: [member], candidates: [] },
};
const fleet = {
  ...{ proxies: [], anonymous: 0, unreachableNodes: ['b'] },
  summary: { total: 0, current: 0, behind: 0, refused: 0, disconnected: 0 },
};
const active = { id: 's', name: 'v7', createdAt: '2026-01-01T00:00:00Z', active: true };
const disks = [{ nodeId: 'a', disks: [], problem: 'its disk is full' }];

/** Node whose consistent reads are refused, as without a quorum or with a store that has failed. */
const node = (leader: string | null) =>
  stub((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://node');
    if (pathname === '/api/v1/cluster') return answer({ ...cluster, leader })(request, response);
    if (pathname === '/api/v1/fleet') return answer(fleet)(request, response);
    if (pathname === '/api/v1/disks') return answer(disks)(request, response);
    if (pathname === '/api/v1/metrics') return void response.end('sluice_disk_free_bytes 5e9\n');
    if (searchParams.get('consistency') !== 'stale') return answer({ error: 'no leader' }, 503)(request, response);
    answer(pathname === '/api/v1/snapshots' ? [active] : [])(request, response);
  });

describe('status of a cluster in trouble', () => {
  afterEach(closeStubs);

  for (const leader of [null, 'b'])
    it(`shows what the node has where ${leader === null ? 'there is no leader' : 'the leader cannot be asked'}`, async () => {
      const client = new Client({ servers: [await node(leader)] });
      const { code, stdout } = await client.run(['status']);
      expect(code).to.equal(0);
      expect(stdout)
        .to.contain(leader === null ? 'NO LEADER' : 'leader b')
        .and.to.contain('live      "v7"');
      const told = ['the cluster cannot agree: what is live is told as the node that answers has it'];
      if (leader === null) told.unshift('the cluster has no leader');
      told.push('the store of node a takes no write: its disk is full', 'node b tells nothing of its proxies');
      const doctor = await client.run(['cluster', 'doctor']);
      expect(doctor.stdout.trimEnd().split('\n')).to.deep.equal(told);
      expect(doctor.code).to.equal(1);
    });
});
