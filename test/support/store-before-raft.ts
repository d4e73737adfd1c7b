// A store as Sluice left it before there was a log: the rows of state/1, and nothing in them of a log.
import { randomBytes } from 'node:crypto';
import { DurableState } from '../../src/state/durable-state.ts';
import { generationDirectory, LevelStore } from '../../src/state/level-store.ts';
import { routeDraft } from './node-of-one.ts';

/** Writes `count` routes `old-0`, `old-1`, … into `storePath`; gives the last index. */
export async function writeStoreBeforeRaft(storePath: string, count: number): Promise<number> {
  const store = await LevelStore.open(generationDirectory(storePath, 1));
  const state = await DurableState.open(store, { randomBytes });
  const { incarnation, boot } = state.identity;
  for (let index = 1; index <= count; index++) {
    const requestId = { origin: 'single', incarnation, boot, seq: index, ackedBelow: index };
    const draft = routeDraft(`old-${index - 1}`, { directResponse: { status: 200 } });
    const bytes = state.encode({ ...draft, v: 1, requestId, time: Date.now() });
    await state.apply([{ index, payload: bytes }], index);
  }
  await state.close();
  return count;
}
