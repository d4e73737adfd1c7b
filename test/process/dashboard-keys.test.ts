// Stories of keys and secrets on the dashboard, by the keyboard: a key is made, shown once, rotated and revoked.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { browserPath, findingsOf, type OpenPage } from '../support/browser.ts';
import { openStage, type Stage } from '../support/dashboard-story.ts';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { needs } from '../support/needs.ts';

describe('keys and secrets in a browser', function () {
  this.timeout(240_000);
  const keys = { ops: 'a'.repeat(24), wall: 'v'.repeat(24) };
  let stage: Stage;
  let opened: OpenPage;
  let page: Page;

  before(async function () {
    needs(this, browserPath);
    const list = `      - { name: ops, key: "${keys.ops}", role: admin }\n      - { name: wall, key: "${keys.wall}", role: viewer }\n`;
    stage = await openStage({ controlPlane: `  auth:\n    apiKeys:\n${list}`, more: 'proxy: { workers: 1 }\n' });
  });
  after(() => stage?.[Symbol.asyncDispose]());
  afterEach(() => opened?.close());

  const visit = async (path: string, key: string = keys.ops, options = {}): Promise<void> => {
    opened = await stage.browser.open(`${stage.sluice.url}/ui/${path}`, options);
    opened.expected.add(401);
    page = opened.page;
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByText('Role: ', { exact: false }).first().waitFor();
  };
  const rows = (name: string) =>
    page.getByRole('table', { name: 'API keys' }).getByRole('row').filter({ hasText: name });
  const statusOf = async (key: string): Promise<number> =>
    (await call(stage.sluice.url, 'GET', '/api/v1/whoami', { key })).status;

  /** Reads the key that is shown, and closes its dialog with the keyboard. */
  const shownKey = async (): Promise<string> => {
    const dialog = page.getByRole('dialog', { name: 'Key of deploy' });
    const key = await dialog.getByLabel('Key').inputValue();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.content()).to.not.include(key);
    return key;
  };

  it('makes a key that is shown once, rotates it while both count, and revokes the old one', async () => {
    await visit('keys');
    await page.getByLabel('Name of the holder').focus();
    await page.keyboard.type('deploy');
    await page.keyboard.press('Tab');
    await page.getByLabel('Role', { exact: true }).selectOption('editor');
    await page.getByRole('button', { name: 'Make key' }).press('Enter');
    const old = await shownKey();
    expect(await statusOf(old)).to.equal(200);
    await rows('deploy').getByText('editor', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Rotate the key of deploy' }).press('Enter');
    await page.getByRole('dialog', { name: 'Rotate the key of deploy' }).waitFor();
    await page.keyboard.press('Enter');
    const successor = await shownKey();
    expect(successor).to.not.equal(old);
    expect([await statusOf(old), await statusOf(successor)]).to.deep.equal([200, 200]);
    await rows('deploy').nth(1).waitFor();

    await page.getByRole('button', { name: 'Revoke the key of deploy' }).first().press('Enter');
    await page.getByRole('dialog', { name: 'Revoke the key of deploy' }).waitFor();
    await page.keyboard.press('Enter');
    await rows('deploy').nth(1).waitFor({ state: 'detached' });
    expect([await statusOf(old), await statusOf(successor)]).to.deep.equal([401, 200]);
    await page.getByRole('button', { name: 'Rotate the key of ops' }).waitFor();
    expect(await page.getByRole('button', { name: 'Revoke the key of ops' }).count()).to.equal(0);
  });

  it('makes one key for two presses, and keeps the name of one that is refused', async () => {
    await visit('keys');
    const field = page.getByLabel('Name of the holder');
    const button = page.getByRole('button', { name: 'Make key' });
    await field.fill('n'.repeat(129));
    opened.expected.add(400);
    await button.click();
    await page.getByRole('alert').filter({ hasText: '/name' }).waitFor();
    expect(await field.inputValue()).to.have.length(129);
    await field.fill('twice');
    const { promise: pressed, resolve: begin } = Promise.withResolvers<void>();
    await page.route('**/api/v1/keys', async (route) => {
      await pressed;
      await route.continue();
    });
    await button.click();
    await button.click();
    begin();
    await page.getByRole('dialog', { name: 'Key of twice' }).waitFor();
    await eventually(async () => expect(await field.inputValue()).to.equal(''));
    const { json } = await call(stage.sluice.url, 'GET', '/api/v1/keys', { key: keys.ops });
    expect((json as { name: string }[]).filter(({ name }) => name === 'twice')).to.have.length(1);
  });

  it('shows a viewer the keys, and that a viewer may not change them', async () => {
    await visit('keys', keys.wall);
    await rows('wall').getByText('now', { exact: true }).waitFor();
    const button = page.getByRole('button', { name: 'Make key' });
    expect(await button.isDisabled()).to.equal(true);
    expect(await button.getAttribute('title')).to.match(/viewer/);
  });

  it('shows how old a secret is, and what uses it', async () => {
    await visit('secrets');
    const body = { id: 'token', name: 'token', value: 'CANARY' };
    expect((await call(stage.sluice.url, 'POST', '/api/v1/secrets', { key: keys.ops, body })).status).to.equal(201);
    const use = { name: 'uses', directResponse: { status: 200, body: '{{secret:value:token}}' } };
    expect((await call(stage.sluice.url, 'POST', '/api/v1/routes', { key: keys.ops, body: use })).status).to.equal(201);
    const row = page.getByRole('table', { name: 'Secrets' }).getByRole('row').filter({ hasText: 'token' });
    await row.getByText(/now|\d+ (s|min) ago/).waitFor();
    await row.getByText('1 resource', { exact: true }).waitFor();
    expect(await page.content()).to.not.include('CANARY');
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`has nothing that axe finds wrong in a key that is shown, ${colorScheme}`, async () => {
      await visit('keys', keys.ops, { colorScheme });
      await page.getByLabel('Name of the holder').fill('deploy');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Key of deploy' }).waitFor();
      expect(await findingsOf(page, 'key')).to.deep.equal([]);
    });
});
