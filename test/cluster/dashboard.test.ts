// The dashboard on three nodes: any of them serves it, whole. Real Chromium, real processes.
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { browserPath, type OpenPage, TestBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';

const phone = { viewport: { width: 360, height: 640 } };

describe('the dashboard on three nodes', function () {
  this.timeout(300_000);
  let browser: TestBrowser;
  let cluster: NodeCluster;
  let nodes: readonly [ClusterNode, ClusterNode, ClusterNode];
  const open: OpenPage[] = [];

  before(async function () {
    needs(this, browserPath);
    [browser, cluster] = await Promise.all([TestBrowser.start(), NodeCluster.start()]);
    const leader = await cluster.leader();
    const [one, other] = cluster.nodes.filter((node) => node !== leader);
    if (one === undefined || other === undefined) throw new Error('three nodes are needed');
    nodes = [leader, one, other];
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  after(async () => {
    await browser?.stop();
    await cluster?.stop();
  });

  async function visit(url: string, options = {}): Promise<OpenPage> {
    const opened = await browser.open(url, options);
    open.push(opened);
    return opened;
  }

  const pageOf = async ({ url }: ClusterNode, path: string): Promise<Page> => (await visit(`${url}/ui/${path}`)).page;

  it('stages on one node, captures and activates on another, and is current on the third', async () => {
    const [leader, one, other] = nodes;
    const editing = await pageOf(one, 'groups');
    const activating = await pageOf(other, 'staged');
    const watching = await pageOf(leader, 'overview');
    await editing.getByRole('button', { name: 'New group' }).click();
    await editing.getByRole('textbox', { name: 'name', exact: true }).fill('shop');
    await editing.getByRole('button', { name: 'Save' }).click();
    for (const page of [editing, activating, watching])
      await page.getByText('Staged: 1 change', { exact: true }).waitFor();
    await activating.getByRole('textbox', { name: 'Snapshot name' }).fill('v1');
    await activating.getByRole('button', { name: 'Capture and activate' }).click();
    for (const page of [editing, activating, watching]) {
      await page.getByText('Active: v1', { exact: true }).waitFor();
      await page.getByRole('status', { name: 'Cluster health' }).filter({ hasText: '3 nodes' }).waitFor();
    }
  });

  it('shows the disk of every node, and on Overview those that are full or take no write', async () => {
    const [leader, one] = nodes;
    const page = await pageOf(one, 'cluster');
    for (const { nodeId } of nodes) {
      const own = page.getByRole('cell', { name: nodeId, exact: true });
      const row = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ has: own });
      await row
        .getByText(/^[\d.]+ [KMGT]?i?B free/)
        .first()
        .waitFor();
    }
    // The disks of this machine are not the test's to fill up.
    await page.route('**/api/v1/disks', (route) =>
      route.fulfill({
        json: [
          {
            nodeId: leader.nodeId,
            disks: [{ path: '/data', freeBytes: 100 * 2 ** 20, totalBytes: 50 * 2 ** 30, state: 'full' }],
            problem: 'storage waits: no space left on device',
          },
          { nodeId: one.nodeId, disks: null, problem: null },
        ],
      }),
    );
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    const needed = page.getByRole('region', { name: 'Needs attention' });
    const full = `The disk of node ${leader.nodeId} is full: 100 MiB of 50 GiB free at /data`;
    await needed.getByText(`${full} (storage waits: no space left on device)`).waitFor();
    expect(await needed.getByText('storage waits').count()).to.equal(1);
  });

  it('works without a mouse, on a phone, behind a path prefix of Sluice itself, on a follower', async () => {
    const [leader, one] = nodes;
    const port = await freePort();
    const { api } = leader;
    await api.create('listeners', { id: 'web', name: 'web', port });
    await api.create('destinations', { id: 'api', name: 'api', host: '127.0.0.1', port: one.ports.api });
    await api.create('routes', {
      ...{ id: 'ops', name: 'ops', match: { pathPrefix: '/ops/' } },
      forward: { destinations: [{ destinationId: 'api', weight: 1 }], rewrite: { path: '/' } },
    });
    await api.activateAs('v2');
    const base = `http://${one.proxyAddress}:${port}`;
    await eventually(async () => expect((await fetch(`${base}/ops/api/v1`)).status).to.equal(200));
    const { page } = await visit(`${base}/ops/ui/`, phone);
    await page.getByText('Active: v2', { exact: true }).waitFor();
    const press = async (target: Locator): Promise<void> => {
      await tabTo(page, target);
      await page.keyboard.press('Enter');
    };
    await press(page.getByRole('button', { name: 'Menu' }));
    await press(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Groups', exact: true }));
    await press(page.getByRole('button', { name: 'New group' }));
    await tabTo(page, page.getByRole('textbox', { name: 'name', exact: true }));
    await page.keyboard.type('keys');
    await press(page.getByRole('button', { name: 'Save' }));
    await page.getByText('Staged: 1 change', { exact: true }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await tabTo(page, page.getByRole('textbox', { name: 'Snapshot name' }));
    await page.keyboard.type('v3');
    await press(page.getByRole('button', { name: 'Capture and activate' }));
    await page.getByText('Active: v3', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/ops/ui/staged');
    const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(wider).to.be.at.most(0);
  });

  it('says that a node cannot be reached, and that its traffic is missing', async () => {
    const [leader, , other] = nodes;
    const { page, expected } = await visit(`${leader.url}/ui/overview`);
    // The killed node may have become the leader meanwhile.
    expected.add(503);
    await page.getByRole('status', { name: 'Cluster health' }).filter({ hasText: '3 nodes' }).waitFor();
    await other.stop('SIGKILL');
    await page
      .getByRole('status', { name: 'Cluster health' })
      .filter({ hasText: '1 of 3 nodes unreachable' })
      .waitFor();
    const needed = page.getByRole('region', { name: 'Needs attention' });
    await needed.getByText(`Node ${other.nodeId} is not healthy`).waitFor();
    await page.getByText(`Without the traffic of ${other.nodeId}`).waitFor();
    await other.start();
    await page
      .getByRole('status', { name: 'Cluster health' })
      .filter({ hasText: /^3 nodes$/ })
      .waitFor();
  });
});

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  const isThere = async (): Promise<boolean> =>
    await target.evaluate((element) => element === element.ownerDocument.activeElement);
  for (let presses = 0; presses < 200; presses++) {
    if (await isThere()) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`200 times Tab do not lead to ${String(target)}`);
}
