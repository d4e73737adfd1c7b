import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CheckpointImage, CheckpointMeta } from '../../../../raft/index.ts';
import { checkpointFilesIn, generationStores } from '../../../../src/cluster/checkpoints/generation-directories.ts';
import { Generations } from '../../../../src/cluster/checkpoints/generations.ts';
import { DurableState } from '../../../../src/state/durable-state.ts';
import { generationDirectory, LevelStore } from '../../../../src/state/level-store.ts';
import { put } from '../../../support/commands.ts';
import { eventually } from '../../../support/eventually.ts';
import { contentOf } from '../../../support/store-content.ts';
import { TemporaryDirectories } from '../../../support/temporary-directory.ts';

describe('Generations on disk', () => {
  const directories = new TemporaryDirectories();
  let state: DurableState;
  afterEach(async () => {
    await state.close();
    await directories.removeAll();
  });

  it('lead from one generation to the next by a checkpoint file, and leave nothing behind', async () => {
    const storePath = await directories.make();
    const written: CheckpointImage[] = [];
    const installed: number[] = [];
    const failures: string[] = [];
    state = await DurableState.open(await LevelStore.open(generationDirectory(storePath, 1)), { randomBytes });
    const generations = new Generations({
      stores: generationStores(storePath),
      checkpoints: checkpointFilesIn(join(storePath, 'checkpoints')),
      generation: 1,
      node: {
        checkpointWritten: (image) => written.push(image),
        checkpointFailed: () => failures.push('checkpoint'),
        installed: (generation) => installed.push(generation),
        installFailed: (index) => failures.push(`install ${index}`),
      },
      state,
      openOptions: { randomBytes },
      notices: { notice: () => undefined, warning: () => undefined },
    });
    await state.apply([{ index: 1, payload: state.encode(put('routes', 'a')) }], 1, { term: 1, time: 5 });
    const before = contentOf(state.view);

    generations.make();
    const image = await eventually(() => written[0] ?? Promise.reject(new Error(`no checkpoint: ${failures}`)));
    expect(image).to.include({ index: 1, term: 1, time: 5 });

    generations.install({ ...image, config: {} as CheckpointMeta['config'] });
    const next = await eventually(() => installed[0] ?? Promise.reject(new Error(`not installed: ${failures}`)));
    await generations.adopt(next);
    expect(contentOf(state.view)).to.equal(before);
    await eventually(async () => expect(await readdir(join(storePath, 'state'))).to.deep.equal([String(next)]));
  });
});
