// A mistake as the dashboard shows it and takes it back, and the times of both: for the stories and for `bench:dashboard`.
import type { Page } from 'playwright-core';
import { pages } from '../../ui/lib/pages.ts';
import type { ApiClient } from './api-client.ts';
import type { OpenPage } from './browser.ts';

const route = (status: number) => ({ name: 'shop', match: { path: '/shop' }, directResponse: { status } });

interface Rollout {
  readonly events: readonly { readonly kind: string; readonly at: string }[];
}

export interface SeenGuard {
  /** Milliseconds from the guard's failure to the alert. */
  readonly ms: number;
  readonly alert: string;
}

/** Makes the route `shop` and two snapshots of it, of which `two` is active. */
export async function prepareMistake(api: ApiClient): Promise<void> {
  await api.create('routes', { id: 'shop', ...route(200) });
  await api.activateAs('one');
  await api.activateAs('two');
}

/** Undoes on every page with two keys; returns the milliseconds from the first key to the page that shows it, for each. */
export async function undoOnEveryPage(page: Page, url: string): Promise<number[]> {
  const tookMs: number[] = [];
  let active = 'two';
  for (const { slug, title } of pages) {
    await page.goto(`${url}/ui/${slug}`);
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    await page.getByText(`Active: ${active}`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
    active = active === 'two' ? 'one' : 'two';
    const startedMs = performance.now();
    await page.keyboard.press('u');
    await page.getByRole('dialog', { name: 'Undo' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(`Active: ${active}`, { exact: true }).waitFor();
    tookMs.push(performance.now() - startedMs);
  }
  return tookMs;
}

/** Rolls out a broken `shop` that a guard takes back, with the page Rollout open; `ask` sends one request of a client. */
export async function seeGuardFail(
  api: ApiClient,
  { page }: OpenPage,
  ask: (client: string) => Promise<unknown>,
): Promise<SeenGuard> {
  await api.put('/routes/shop', route(500));
  const snapshot = await api.create('snapshots', { name: 'broken' });
  await api.post(`/snapshots/${snapshot}/rollout`, {
    ...{ steps: [{ share: 50, hold: '1m' }], guards: ['candidate.errorRate <= 0.1'], minRequests: 1 },
    ...{ checkInterval: '100ms', key: { header: 'x-client' } },
  });
  await page.getByRole('status', { name: 'Rollout state' }).filter({ hasText: 'running' }).waitFor();
  const alert = page.getByRole('alert').filter({ hasText: 'candidate.errorRate <= 0.1' });
  let shownMs = Number.NaN;
  const isShown = alert.waitFor().then(() => {
    shownMs = Date.now();
  });
  for (let client = 0; Number.isNaN(shownMs); client++) await ask(String(client));
  await isShown;
  const text = (await alert.textContent()) ?? '';
  const { body } = await api.get<Rollout[]>('/rollouts');
  const failed = body[0]?.events.find(({ kind }) => kind === 'guard failed');
  await page.getByRole('status', { name: 'Rollout state' }).filter({ hasText: 'rolled back' }).waitFor();
  return { ms: shownMs - Date.parse(failed?.at ?? ''), alert: text };
}
