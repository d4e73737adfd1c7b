// What a stopped node has on disk, read by the product's own code.
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DurableState } from '../../src/state/durable-state.ts';
import { LevelStore } from '../../src/state/level-store.ts';

/** `storePath`. Of several generations the newest counts. */
export async function stateOf(storePath: string): Promise<{ applied: number; hash: string; routes: number }> {
  const parent = join(storePath, 'state');
  const newest = Math.max(...(await readdir(parent)).map(Number));
  const state = await DurableState.open(await LevelStore.open(join(parent, String(newest))), { randomBytes });
  const { applied, hash } = state.view;
  const routes = state.view.list('routes').length;
  await state.close();
  return { applied, hash, routes };
}
