// An apply of more changes than a usual batch takes, through a follower, whose leader, client or server is killed on the
// way: all of it takes effect or nothing, and the client says which.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { endOf } from '../support/sluice-process.ts';

const count = 20_500;

describe('an apply of 20,500 changes', function () {
  this.timeout(240_000);
  let cluster: NodeCluster;
  let leader: ClusterNode;
  let follower: ClusterNode;
  let client: Client;

  before(async () => {
    cluster = await NodeCluster.start();
  });

  beforeEach(async () => {
    leader = await cluster.leader();
    const [first, second] = (await cluster.followers()) as [ClusterNode, ClusterNode];
    follower = first;
    client = new Client({ servers: [first.url, second.url] });
  });

  after(() => cluster?.stop());

  const write = (port: number): void => {
    const list = Array.from({ length: count }, (_, n) => `- { name: d${n}, host: a.internal, port: ${port} }\n`);
    client.write('conf.yaml', `owner: crash\ndestinations:\n${list.join('')}`);
  };

  /** Ports of what is staged, and how many there are, as any node tells it once the cluster answers. */
  const staged = async (): Promise<{ readonly count: number; readonly ports: readonly number[] }> =>
    await eventually(async () => {
      const { status, body } = await leader.api.get<readonly { readonly port: number }[]>('/destinations');
      expect(status).to.equal(200);
      return { count: body.length, ports: [...new Set(body.map(({ port }) => port))] };
    });

  /** Starts an apply; resolves with its end once it sends its changes. */
  const sending = async (timeout = '90s') => {
    const child = client.start('apply', '-f', 'conf.yaml', '--timeout', timeout);
    child.stdin?.end();
    const ended = endOf(child);
    let told = '';
    child.stdout?.on('data', (part: Buffer) => {
      told += part.toString();
    });
    while (!told.includes('sending ')) await once(child.stdout!, 'data');
    return { child, ended };
  };

  it('is one batch through a follower, and no change the second time', async () => {
    write(1);
    const { stdout, code } = await client.run(['apply', '-f', 'conf.yaml']);
    expect(code).to.equal(0);
    expect(stdout).to.match(
      /^sending {3}20500 changes, \d+ MiB\nstaged {4}20500 changes in one batch \(index \d+\)\n$/,
    );
    expect(await staged()).to.deep.equal({ count, ports: [1] });
    expect(await client.output('apply', '-f', 'conf.yaml')).to.equal('no change\n');
    write(2);
    expect((await client.run(['apply', '-f', 'conf.yaml', '--dry-run', '-o', 'name'])).code).to.equal(3);
    expect(await staged()).to.deep.equal({ count, ports: [1] });
  });

  // From before the log has it to after its commit.
  const kills = [
    ['leader', 700],
    ['node that it is sent to', 300],
  ] as const;
  for (const [at, [killed, afterMs]] of kills.entries())
    it(`takes effect as a whole, or not and says so, when the ${killed} is killed ${afterMs} ms after it is sent`, async () => {
      const before = (await staged()).ports;
      const port = 10 + at;
      write(port);
      const { ended } = await sending();
      await pause(afterMs);
      const node = killed === 'leader' ? leader : follower;
      await node.stop('SIGKILL');
      const { code, stdout, stderr } = await ended;
      await node.start();
      const found = await staged();
      expect(found.count).to.equal(count);
      if (code === 0) {
        expect(stdout).to.contain('staged    20500 changes in one batch');
        expect(found.ports).to.deep.equal([port]);
        return;
      }
      // A busy machine may be without a leader for longer than a write waits.
      expect({ code, stderr }).to.include({ code: 5 });
      expect(stderr).to.match(/the cluster cannot do it now|may have been carried out all the same/);
      expect([[port], before]).to.deep.include(found.ports);
    });

  it('of which the client is killed leaves all or nothing', async () => {
    const before = (await staged()).ports;
    write(20);
    const { child, ended } = await sending();
    await pause(300);
    child.kill('SIGKILL');
    await ended;
    // The write under way ends, and another writer finds either state whole.
    const { count: found, ports } = await staged();
    expect(found).to.equal(count);
    expect(ports).to.have.length(1);
    expect(ports[0]).to.be.oneOf([...before, 20]);
    // The batch of the killed client may take effect between the reads and the write of this one, which is refused then.
    await eventually(() => client.output('apply', '-f', 'conf.yaml'));
    expect(await staged()).to.deep.equal({ count, ports: [20] });
  });

  it('without a quorum ends with 5, says that it may have been carried out, and leaves all or nothing', async () => {
    const others = cluster.nodes.filter((node) => node !== follower);
    client = new Client({ servers: [follower.url] });
    write(30);
    const { ended } = await sending('11s');
    await Promise.all(others.map((node) => node.stop('SIGKILL')));
    const { code, stderr } = await ended;
    expect(code).to.equal(5);
    expect(stderr).to.match(/the cluster cannot do it now|may have been carried out all the same/);
    await Promise.all(others.map((node) => node.start()));
    const { count: found, ports } = await staged();
    expect(found).to.equal(count);
    expect(ports).to.have.length(1);
    expect(ports[0]).to.be.oneOf([20, 30]);
    await client.output('apply', '-f', 'conf.yaml');
    expect(await staged()).to.deep.equal({ count, ports: [30] });
  });
});
