// Story of the dashboard: what a staged change does, before it is live. A real Chromium, a real Sluice.
import { expect } from 'chai';
import { dashboardStory } from '../support/dashboard-story.ts';
import { eventually } from '../support/eventually.ts';
import { startUpstream } from '../support/upstream.ts';

describe('the impact of a staged change in a browser', function () {
  this.timeout(240_000);
  const route = (id: string, match: object, priority = 0) => ({
    ...{ id, name: id, match, priority },
    directResponse: { status: 200 },
  });
  const story = dashboardStory(async (api, { statusOf }) => {
    await api.create('routes', route('all', { pathPrefix: '/' }));
    await api.create('routes', route('cart', { path: '/cart' }));
    await api.activateAs('v1');
    for (const path of ['/cart', '/cart', '/other'])
      await eventually(async () => expect(await statusOf(path)).to.equal(200));
    await eventually(async () =>
      expect((await api.get<{ requests: object[] }>('/requests')).body.requests).to.have.lengthOf(3),
    );
    await api.create('routes', route('promo', { path: '/cart' }, 1));
  });

  it('is on the page Staged: new findings, affected routes, and recent requests on demand', async () => {
    const { page } = await story.visit('staged');
    const impact = page.getByRole('region', { name: 'Impact' });
    const finding = impact.getByRole('list', { name: 'New findings' }).getByRole('listitem');
    await finding.getByText('route "cart" serves no request', { exact: false }).waitFor();
    await impact.getByText('1 route affected').waitFor();
    await impact.getByRole('button', { name: 'Replay recent requests' }).click();
    await impact.getByText('3 requests replayed, for 3; 1 the same.', { exact: false }).waitFor();
    const row = impact.getByRole('table', { name: 'Replayed requests' }).getByRole('row').nth(1);
    expect((await row.getByRole('cell').allTextContents()).slice(0, 5)).to.deep.equal([
      'moved',
      'cart',
      'promo',
      '2',
      '2',
    ]);
    await finding.getByRole('link', { name: 'Explain' }).click();
    await page.getByRole('heading', { level: 1, name: 'Explain', exact: true }).waitFor();
  });

  it('is on the page of a route: its findings', async () => {
    const { page } = await story.visit('routes?id=cart');
    const list = page.getByRole('list', { name: 'Findings' });
    await list.getByText('unreachable-route').waitFor();
    expect(await list.getByRole('listitem').count()).to.equal(1);
    expect(await page.getByRole('region', { name: 'Mismatches' }).count()).to.equal(0);
  });

  it('is on the page of a route: how its mirror answers otherwise', async () => {
    const { api } = story;
    const upstreams = await Promise.all(
      ['old', 'new'].map((version) =>
        startUpstream(version, (_request, response) => {
          response.setHeader('content-type', 'application/json').end(JSON.stringify({ version }));
        }),
      ),
    );
    try {
      for (const [at, id] of ['old', 'new'].entries())
        await api.create('destinations', { id, name: id, host: '127.0.0.1', port: upstreams[at]?.port });
      const mirror = { destinationId: 'new', compare: { body: 'json' } };
      const forward = { destinations: [{ destinationId: 'old' }], mirror };
      await api.create('routes', { id: 'copied', name: 'copied', match: { path: '/copied' }, forward });
      await api.activateAs('copied');
      const { page } = await story.visit('routes?id=copied');
      const mismatches = page.getByRole('region', { name: 'Mismatches' });
      await mismatches.getByText('No response differs', { exact: false }).waitFor();
      await eventually(async () => {
        expect(await story.statusOf('/copied')).to.equal(200);
        expect((await api.get<object[]>('/mirrors/mismatches?limit=1')).body).to.have.length(1);
      });
      const row = mismatches.getByRole('table', { name: 'Mismatches' }).getByRole('row').nth(1).getByRole('cell');
      await row.nth(3).getByText('body /version', { exact: true }).waitFor();
      expect(await row.nth(2).textContent()).to.equal('new');
      expect([await row.nth(4).textContent(), await row.nth(5).textContent()]).to.deep.equal(['"old"', '"new"']);
    } finally {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    }
  });

  it('is made live with a comment, or captured alone', async () => {
    const { page } = await story.visit('staged');
    const { body } = await story.api.get<{ name: string }[]>('/activations?limit=1');
    await page.getByRole('textbox', { name: 'Snapshot name' }).fill('kept');
    await page.getByRole('button', { name: 'Capture only' }).click();
    await page.getByText('kept is captured', { exact: false }).waitFor();
    await page.getByText(`Active: ${body[0]?.name}`, { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Snapshot name' }).fill('sale');
    await page.getByRole('textbox', { name: 'Comment' }).fill('The sale begins.');
    await page.getByRole('button', { name: 'Capture and activate' }).click();
    await page.getByText('Active: sale', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Snapshots', exact: true }).click();
    await page.getByRole('table', { name: 'Snapshots' }).getByRole('cell', { name: 'kept', exact: true }).waitFor();
    await page.getByRole('table', { name: 'Activations' }).getByText('The sale begins.').waitFor();
  });
});
