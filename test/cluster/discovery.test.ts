import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { StubResolver } from '../support/stub-resolver.ts';

interface Overview {
  readonly clusterId: string;
  readonly members: readonly { readonly nodeId: string; readonly role: string; readonly raftAddress: string }[];
}

// Discovery gives addresses on one port, so each node has an address of its own.
const hosts = { a: '127.0.0.2', b: '127.0.0.3', c: '127.0.0.4' } as const;
type Name = keyof typeof hosts;
const names = Object.keys(hosts) as Name[];

describe('three nodes that find each other by DNS', function () {
  this.timeout(60_000);
  let resolver: StubResolver;
  let raftPort: number;
  const folders = { a: newFolder(), b: newFolder(), c: newFolder() };
  const running = new Map<Name, SluiceProcess>();

  before(async () => {
    resolver = await StubResolver.start(Object.values(hosts));
    raftPort = await freePort();
  });

  after(async () => {
    await Promise.all([...running.values()].map((sluice) => sluice.stop('SIGKILL')));
    await resolver.close();
  });

  const start = async (name: Name): Promise<SluiceProcess> => {
    const port = await freePort();
    const sluice = await startSluice({
      folder: folders[name],
      port,
      controlPlane:
        `  advertiseAddress: 127.0.0.1:${port}\n` +
        `  raft: { nodeId: ${name}, bindAddress: "${hosts[name]}:${raftPort}", discovery: { dns: sluice.test }, ` +
        'expect: 3, clusterToken: "a cluster token of tests" }\n',
      more: 'proxy: { workers: 1 }',
      env: resolver.environment,
    });
    running.set(name, sluice);
    return sluice;
  };

  const apiOf = (name: Name) => apiClient(running.get(name)?.url ?? '');

  it('found one cluster together, once', async () => {
    await Promise.all(names.map(start));
    const creators = [...running.values()].filter(({ output }) => output.join('\n').includes('creates cluster'));
    expect(creators).to.have.length(1);
    const overviews = await Promise.all(names.map(async (name) => (await apiOf(name).get<Overview>('/cluster')).body));
    expect(new Set(overviews.map(({ clusterId }) => clusterId)).size).to.equal(1);
    expect(overviews[0]?.members.map(({ nodeId, raftAddress }) => [nodeId, raftAddress])).to.deep.equal(
      names.map((name) => [name, `${hosts[name]}:${raftPort}`]),
    );
    await apiOf('a').create('groups', { name: 'from a' });
    expect((await apiOf('c').get<object[]>('/groups')).body).to.have.length(1);
  });

  it('take a wiped member back as another one, which never founds anything', async () => {
    const { clusterId } = (await apiOf('a').get<Overview>('/cluster')).body;
    await running.get('c')?.stop('SIGKILL');
    rmSync(join(folders.c, 'data'), { recursive: true });
    const again = await start('c');
    expect(again.output.join('\n')).to.contain(`joins cluster ${clusterId}`);
    await eventually(async () => {
      const { members } = (await apiOf('a').get<Overview>('/cluster')).body;
      const own = members.filter(({ nodeId }) => nodeId === 'c').map(({ role }) => role);
      expect(own).to.have.members(['voter', 'learner']);
    });
    expect((await apiOf('c').get<object[]>('/groups')).body).to.have.length(1);
  });
});
