// Drills of docs/operations.md with real processes: each row of the page is what an operator sees. With SLUICE_DRILLS=1 it prints
// after how many seconds each was there, and every line of the logs.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { FleetView } from '../../src/model/answers/fleet-answers.ts';
import { CuttableLink } from '../support/cuttable-link.ts';
import { type DrillRow, drillTitles, rowsOfDrill } from '../support/drill-page.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { LinkedCluster } from '../support/linked-cluster.ts';
import { LoopDisk } from '../support/loop-disk.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs, needsPreload } from '../support/needs.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';
import { SetClocks } from '../support/set-clocks.ts';

const printed = process.env.SLUICE_DRILLS !== undefined;
const alerts = (
  parse(readFileSync(new URL('../../deploy/observability/alerts.yml', import.meta.url), 'utf8')) as {
    groups: { rules: { alert: string }[] }[];
  }
).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

/** Processes of a drill by the word that the page has for them. */
interface Scene {
  readonly node?: ClusterNode | undefined;
  readonly leader?: ClusterNode | undefined;
  readonly others?: readonly ClusterNode[];
  readonly proxy?: ProxyProcess | undefined;
}

describe('drills of docs/operations.md', () => {
  const executed = new Set<string>();

  const said = async (
    { source, of }: DrillRow,
    scene: Scene,
    from: Map<readonly string[], number>,
  ): Promise<string> => {
    const nodes = of === 'others' ? (scene.others ?? []) : [of === 'leader' ? scene.leader : scene.node];
    const outputs = of === 'proxy' ? [scene.proxy?.output ?? []] : nodes.map((node) => node?.output ?? []);
    if (source === 'log') return outputs.map((lines) => messagesOf(lines.slice(from.get(lines) ?? 0))).join('\n');
    if (of === 'proxy') return (await scene.proxy?.admin(source))?.text ?? '';
    const texts = await Promise.all(
      nodes.map(async (node) => {
        if (source === 'a write') return JSON.stringify((await node?.api.post('/groups', { name: 'drill' }))?.body);
        const path = source === '/readyz' || source === '/metrics' ? source : `/api/v1${source}?consistency=stale`;
        return (await call(node?.url ?? '', 'GET', path, { withinMs: 5_000 })).text;
      }),
    );
    return texts.join('\n');
  };

  /** Runs a drill: `begin` makes the fault, then every row of the page has to come true. */
  const drill = async (
    title: string,
    scene: Scene,
    begin: (from: Map<readonly string[], number>) => unknown,
  ): Promise<void> => {
    executed.add(title);
    const lists = [scene.node?.output, scene.leader?.output, ...(scene.others ?? []).map(({ output }) => output)];
    const from = new Map<readonly string[], number>(lists.flatMap((list) => (list ? [[list, list.length]] : [])));
    if (scene.proxy !== undefined) from.set(scene.proxy.output, scene.proxy.output.length);
    const rows = rowsOfDrill(title);
    expect(rows, title).to.not.be.empty;
    const startedMs = performance.now();
    await begin(from);
    await Promise.all(
      rows.map(async (row) => {
        if (row.source === 'alert') return void expect(alerts).to.include(row.text);
        await eventually(async () => expect(await said(row, scene, from), row.text).to.match(row.pattern));
        const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
        if (printed) console.log(`${title}: ${seconds} s: ${row.source} of the ${row.of}: ${row.text}`);
      }),
    );
    if (printed) for (const [list, at] of from) console.log(messagesOf(list.slice(at)).replace(/^/gm, `      `), '\n');
  };

  describe('three nodes and a proxy', () => {
    const clocks = new SetClocks();
    let linked: LinkedCluster;
    let ways: ReadonlyMap<string, CuttableLink>;
    let proxy: ProxyProcess;
    let taken: Server | undefined;

    before(async function () {
      needsPreload(this);
      linked = await LinkedCluster.start({ env: clocks.env });
      const { nodes } = linked.cluster;
      const [first] = nodes as [ClusterNode];
      await first.api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port: await freePort() });
      await first.api.activateAs('v1');
      const links = nodes.map(async ({ nodeId, ports }) => [nodeId, await CuttableLink.to(ports.api)] as const);
      ways = new Map(await Promise.all(links));
      const urls = [...ways.values()].map(({ port }) => `http://127.0.0.1:${port}`);
      proxy = launchProxy({ controlPlanes: urls, proxy: '  id: p\n  bindAddress: 127.0.0.11' });
      await proxy.ready();
    });

    after(async () => {
      taken?.close();
      await proxy?.stop('SIGKILL');
      for (const way of ways?.values() ?? []) await way.close();
      await linked?.stop();
    });

    const sceneOf = async (which: 'leader' | 'follower'): Promise<Required<Omit<Scene, 'proxy'>>> => {
      const leader = await linked.cluster.leader();
      const [follower] = await linked.cluster.followers();
      const node = which === 'leader' ? leader : follower;
      if (node === undefined) throw new Error('no follower');
      return { node, leader, others: linked.cluster.nodes.filter((other) => other !== node) };
    };
    const healthy = async (): Promise<void> => {
      await linked.cluster.leader();
      for (const { url } of linked.cluster.nodes)
        await eventually(async () => expect((await call(url, 'GET', '/readyz')).status).to.equal(200));
    };

    afterEach(async function () {
      if (
        this.currentTest?.state === 'passed' &&
        linked !== undefined &&
        !executed.has('A node is removed and started again')
      )
        await healthy();
    });

    /** Resolves with the node that `p` follows. */
    const nodeOfProxy = async (asked: ClusterNode | undefined): Promise<string> => {
      const { body } = (await asked?.api.get<FleetView & Record<string, unknown>>('/fleet')) ?? {};
      const found = body?.proxies.find(({ id, state }) => id === 'p' && state !== 'disconnected');
      if (found === undefined) throw new Error('no node has the proxy');
      return found.node;
    };

    it('the port of a listener is taken', async () => {
      const scene = await sceneOf('follower');
      const port = await freePort();
      const { proxyAddress, api } = scene.node;
      taken = createServer().listen(port, proxyAddress);
      await once(taken, 'listening');
      await drill('The port of a listener is taken', scene, async () => {
        await api.create('listeners', { id: 'busy', name: 'busy', address: '127.0.0.1', port });
        await api.activateAs('v2');
      });
      taken.close();
    });

    it('a certificate ends in a day', async () => {
      const scene = await sceneOf('follower');
      const until = new Date(Date.now() + 86_400_000);
      const { cert, key } = makeCertificate({ dnsNames: ['localhost'], until });
      await drill('A certificate ends in a day', scene, async () => {
        const port = await freePort();
        await scene.node.api.create('listeners', {
          id: 'tls',
          name: 'tls',
          address: '127.0.0.1',
          port,
          tls: { cert, key },
        });
        await scene.node.api.activateAs('v3');
      });
    });

    it('a proxy is cut off from its node only', async () => {
      const [first] = linked.cluster.nodes as [ClusterNode];
      const place = await eventually(() => nodeOfProxy(first));
      const node = linked.cluster.node(place);
      const others = linked.cluster.nodes.filter((other) => other !== node);
      await drill('A proxy is cut off from its node only', { node, others, proxy }, () =>
        ways.get(place)?.cut({ there: true, back: true }),
      );
      await eventually(async () => expect(await nodeOfProxy(others[0])).to.not.equal(place));
      ways.get(place)?.heal();
    });

    // First of the two: a member warns of another's clock once a minute.
    it('the clock of the leader is an hour ahead for two seconds', async () => {
      const scene = await sceneOf('leader');
      await drill('The clock of the leader is an hour ahead for two seconds', scene, async () => {
        clocks.set(scene.node, 3_600_000);
        // Length of the fault, as the drill names it.
        await new Promise((resolve) => setTimeout(resolve, 2_000));
      });
      clocks.set(scene.node, 0);
    });

    it('the clock of a node is 45 s ahead', async () => {
      const scene = await sceneOf('follower');
      await drill('The clock of a node is 45 s ahead', scene, () => clocks.set(scene.node, 45_000));
      clocks.set(scene.node, 0);
      await eventually(() => scene.node.api.create('groups', { name: 'clock' }));
    });

    it('a node is cut off from the others', async () => {
      const scene = await sceneOf('follower');
      await drill('A node is cut off from the others', scene, () => linked.isolate(scene.node));
      linked.heal();
    });

    it('the leader is killed', async () => {
      const scene = await sceneOf('leader');
      await drill('The leader is killed', scene, () => scene.node.stop('SIGKILL'));
      await scene.node.start();
    });

    it('the quorum is lost', async () => {
      const scene = await sceneOf('follower');
      await drill('The quorum is lost', scene, () => Promise.all(scene.others.map((node) => node.stop('SIGKILL'))));
      await Promise.all(scene.others.map((node) => node.start()));
    });

    it('a node is removed and started again', async () => {
      const scene = await sceneOf('follower');
      await drill('A node is removed and started again', scene, async (from) => {
        const [other] = scene.others;
        expect((await other?.api.delete(`/cluster/members/${scene.node.nodeId}`))?.status).to.equal(204);
        await eventually(() => expect(scene.node.process?.child.exitCode).to.equal(0));
        // Rows about the node are those of its second life.
        from.set(scene.node.output, scene.node.output.length);
        scene.node.start().catch(() => undefined);
      });
    });
  });

  describe('three nodes with disks of their own', () => {
    let cluster: NodeCluster | undefined;
    const disks = new Map<string, LoopDisk>();

    before(async function () {
      needs(this, '/dev/loop-control', 'mount', 'mkfs.ext4', 'fsfreeze');
      if (LoopDisk.lacks !== undefined) this.skip();
      cluster = await NodeCluster.prepare();
      for (const { nodeId, storePath } of cluster.nodes) disks.set(nodeId, LoopDisk.mount(storePath));
      await Promise.all(cluster.nodes.map((node) => node.start()));
    });

    after(async () => {
      for (const disk of disks.values()) disk.thaw();
      await cluster?.stop();
      for (const disk of disks.values()) disk.remove();
    });

    const sceneOfLeader = async () => {
      const node = await cluster?.leader();
      if (cluster === undefined || node === undefined) throw new Error('no leader');
      const disk = disks.get(node.nodeId) as LoopDisk;
      return { disk, scene: { node, others: cluster.nodes.filter((other) => other !== node) } };
    };

    it('the disk of the leader stands still for 13 s', async () => {
      const { disk, scene } = await sceneOfLeader();
      await drill('The disk of the leader stands still for 13 s', scene, async () => {
        disk.freeze();
        setTimeout(() => disk.thaw(), 13_000);
      });
      disk.thaw();
    });

    it('the disk of the leader is full', async () => {
      const { disk, scene } = await sceneOfLeader();
      await drill('The disk of the leader is full', scene, () => disk.fill());
      disk.makeRoom();
    });
  });

  // In a suite of its own, so that it comes last.
  describe('on the page', () => {
    it('are all executed', function () {
      needsPreload(this);
      if (LoopDisk.lacks !== undefined) this.skip();
      expect([...executed].sort()).to.deep.equal([...drillTitles()].sort());
    });
  });
});

/** Lines of a log as a person reads them: level and message. */
const messagesOf = (lines: readonly string[]): string =>
  lines
    .map((line) => {
      try {
        const { level, msg, reason } = JSON.parse(line) as { level: string; msg: string; reason?: string };
        return `${level}: ${msg}${typeof reason === 'string' ? `: ${reason}` : ''}`;
      } catch {
        return line;
      }
    })
    .join('\n');
