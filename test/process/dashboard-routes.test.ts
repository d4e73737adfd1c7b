// Stories of the page of a route. A real Chromium, a real Sluice.
import { expect } from 'chai';
import { findingsOf } from '../support/browser.ts';
import { dashboardStory } from '../support/dashboard-story.ts';
import { eventually } from '../support/eventually.ts';

interface Stats {
  readonly routes: readonly {
    readonly chain: readonly { readonly middlewareId: string; readonly passed: number; readonly rejected: number }[];
  }[];
}

describe('the page of a route in a browser', function () {
  this.timeout(240_000);
  const story = dashboardStory(
    async (api) => {
      await api.create('routes', {
        id: 'all',
        name: 'all',
        match: { pathPrefix: '/' },
        directResponse: { status: 204 },
      });
      await api.create('routes', {
        id: 'cart',
        name: 'cart',
        match: { path: '/cart' },
        directResponse: { status: 200 },
      });
      await api.activateAs('v1');
    },
    { more: 'proxy: { workers: 2 }\n' },
  );

  it('shows the chain of a route with what each middleware passed and rejected, counted by both workers', async () => {
    const { api } = story;
    const rule = (id: string, allow: string) => ({
      ...{ id, name: id, type: 'inlineAuthz' },
      inlineAuthz: { rules: [{ cel: allow, action: 'allow' }], defaultAction: 'deny' },
    });
    await api.create('middlewares', rule('members', '"x-member" in request.headers'));
    await api.create('middlewares', {
      ...{ id: 'mark', name: 'mark', type: 'headers' },
      headers: { requestHeadersToAdd: [{ key: 'x-a', value: 'y' }] },
    });
    const match = { path: '/club' };
    const middlewareIds = ['members', 'mark'];
    await api.create('routes', { id: 'club', name: 'club', match, middlewareIds, directResponse: { status: 200 } });
    await api.activateAs('club');
    // Workers take up an activation one after the other: what the route has answered is what counts.
    const answered = new Map([200, 403].map((status) => [status, 0]));
    while ([...answered.values()].some((count) => count < 8)) {
      const isMember = (answered.get(403) ?? 0) > (answered.get(200) ?? 0);
      const headers: Record<string, string> = isMember ? { 'x-member': '1' } : {};
      const status = await story.statusOf('/club', headers);
      if (status !== 204) answered.set(status, (answered.get(status) ?? 0) + 1);
    }
    const [passed, rejected] = [answered.get(200), answered.get(403)];
    await eventually(async () => {
      const { body } = await api.get<Stats>('/stats?routes=club&chain=true');
      const counts = body.routes[0]?.chain.map((each) => [each.middlewareId, each.passed, each.rejected]);
      expect(counts).to.deep.equal([
        ['members', passed, rejected],
        ['mark', passed, 0],
      ]);
    });
    const { page } = await story.visit('routes?id=club');
    const row = (name: string) =>
      page.getByRole('table', { name: 'Chain' }).getByRole('row').filter({ hasText: name }).getByRole('cell');
    await row('members').nth(4).getByText(String(rejected), { exact: true }).waitFor();
    expect(await row('members').nth(3).textContent()).to.equal(String(passed));
    expect(await row('mark').allTextContents()).to.include.members(['mark', 'headers', String(passed), '0']);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`has nothing that axe finds wrong, nor has that of a middleware or of an answer, ${colorScheme}`, async () => {
      const { page } = await story.visit('routes?id=club', { colorScheme });
      await page.getByRole('table', { name: 'Chain' }).waitFor();
      const findings = await findingsOf(page, 'route');
      await page.getByRole('link', { name: 'members', exact: true }).click();
      await page.getByRole('heading', { level: 2, name: 'Used by' }).waitFor();
      findings.push(...(await findingsOf(page, 'middleware')));
      await page.goto(`${story.sluice.url}/ui/explain?url=http://x.test/club`);
      await page.getByRole('region', { name: 'Staged' }).waitFor();
      findings.push(...(await findingsOf(page, 'explanation')));
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      findings.push(...(await findingsOf(page, 'dialog')));
      expect(findings).to.deep.equal([]);
    });

  it('takes lists line by line and choices of numbers as numbers, in its form', async () => {
    const { page, expected } = await story.visit('routes?edit=');
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('moved');
    await page.getByRole('button', { name: 'Add match' }).click();
    await page.getByRole('textbox', { name: 'methods', exact: true }).pressSequentially('GET\nPOST\n');
    await page.getByRole('button', { name: 'Add redirect' }).click();
    const redirect = page.getByRole('group', { name: 'redirect' });
    await redirect.getByRole('textbox', { name: 'path', exact: true }).fill('/new');
    await redirect.getByRole('combobox', { name: 'code', exact: true }).selectOption('302');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('method is GET or POST').waitFor();
    const { api } = story;
    const { body } = await api.get<{ id: string; name: string; redirect?: object }[]>('/routes');
    const made = body.find(({ name }) => name === 'moved');
    expect(made?.redirect).to.deep.equal({ path: '/new', code: 302 });
    // Its page may be reading it at that moment.
    expected.add(404);
    await api.delete(`/routes/${made?.id}`);
    await page.getByRole('alert').filter({ hasText: 'not staged any more' }).waitFor();
  });

  it('shows what an entry of a list has, once the one before it is removed', async () => {
    const { page } = await story.visit('destinations?edit=');
    for (const [at, host] of ['one.test', 'two.test'].entries()) {
      await page.getByRole('button', { name: 'Add to endpoints', exact: true }).click();
      const entry = page.getByRole('group', { name: `endpoints ${at + 1}`, exact: true });
      await entry.getByRole('textbox', { name: 'host', exact: true }).fill(host);
    }
    await page.getByRole('button', { name: 'Remove endpoints 1', exact: true }).click();
    await page.getByRole('group', { name: 'endpoints 2', exact: true }).waitFor({ state: 'detached' });
    const left = page.getByRole('group', { name: 'endpoints 1', exact: true });
    expect(await left.getByRole('textbox', { name: 'host', exact: true }).inputValue()).to.equal('two.test');
  });

  it('disables a route, which serves nothing from the next activation on, and enables it again', async () => {
    const { api } = story;
    const { page } = await story.visit('routes?id=cart');
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
    await page.getByText('Staged: 1 change', { exact: true }).waitFor();
    await eventually(async () => expect(await story.statusOf('/cart')).to.equal(200));
    await api.activateAs('v2');
    await eventually(async () => expect(await story.statusOf('/cart')).to.equal(204));
    await page.getByRole('link', { name: 'Routes', exact: true }).click();
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'cart', exact: true }) });
    await row.getByText('disabled', { exact: true }).waitFor();
    await row.getByRole('link', { name: 'cart', exact: true }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor();
    const { body } = await api.get<object>('/routes/cart');
    expect(body).to.not.have.property('disabled');
    await api.activateAs('v3');
    await eventually(async () => expect(await story.statusOf('/cart')).to.equal(200));
  });

  it('explains shares with a fixed answer, and what the request to the upstream has in other fields', async () => {
    const { api } = story;
    await api.create('destinations', { id: 'shop', name: 'shop', host: '127.0.0.1', port: 9 });
    const forward = {
      headers: { requestHeadersToAdd: [{ key: 'x-tier', value: 'gold' }], requestHeadersToRemove: ['x-debug'] },
      destinations: [
        { destinationId: 'shop', weight: 3 },
        { directResponse: { status: 503 }, weight: 1 },
      ],
    };
    await api.create('routes', { id: 'shared', name: 'shared', match: { path: '/shared' }, forward });
    const query = new URLSearchParams({ url: 'http://x.test/shared', headers: 'x-debug: 1' });
    const { page } = await story.visit(`explain?${query}`);
    const staged = page.getByRole('region', { name: 'Staged' });
    await staged.getByRole('listitem').filter({ hasText: 'shop 75 %' }).waitFor();
    await staged.getByRole('listitem').filter({ hasText: 'a response 503 25 %' }).waitFor();
    expect(await staged.getByText('does not exist').count()).to.equal(0);
    await staged.getByText('x-tier: gold', { exact: true }).waitFor();
    await staged.getByText('− x-debug', { exact: true }).waitFor();
  });
});
