// State of a stopped node on disk, read and changed by the product's own code.
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DurableState } from '../../src/state/durable-state.ts';
import { LevelStore } from '../../src/state/level-store.ts';
import { put } from './commands.ts';

/** `storePath`. Of several generations the newest counts. */
export async function stateOf(storePath: string): Promise<{ applied: number; hash: string; routes: number }> {
  const state = await openNewest(storePath);
  const { applied, hash } = state.view;
  const routes = state.view.list('routes').length;
  await state.close();
  return { applied, hash, routes };
}

/** Puts a route into the state of a stopped node that no log ever held. Hash and mark fit it: only the others can tell. */
export async function addUnagreed(storePath: string, id: string): Promise<void> {
  const state = await openNewest(storePath);
  const { applied } = state.view;
  await state.apply([{ index: applied, payload: state.encode(put('routes', id)) }], applied, state.entry);
  await state.close();
}

async function openNewest(storePath: string): Promise<DurableState> {
  const parent = join(storePath, 'state');
  const newest = Math.max(...(await readdir(parent)).map(Number));
  return await DurableState.open(await LevelStore.open(join(parent, String(newest))), { randomBytes });
}
