import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { emptyConfig } from '../../../../raft/core/types.ts';
import { checkpointFilesIn } from '../../../../src/cluster/checkpoints/generation-directories.ts';
import { holdsAll, rebuildStore } from '../../../../src/cluster/checkpoints/rebuilt-store.ts';
import { DurableState } from '../../../../src/state/durable-state.ts';
import { LevelStore } from '../../../../src/state/level-store.ts';
import { put } from '../../../support/commands.ts';
import { contentOf } from '../../../support/store-content.ts';
import { TemporaryDirectories } from '../../../support/temporary-directory.ts';

describe('a store that is built anew', () => {
  const directories = new TemporaryDirectories();
  afterEach(() => directories.removeAll());

  it('holds what its checkpoint holds, under an identity of its own', async () => {
    const encryptionKey = randomBytes(32);
    const [directory, place] = [await directories.make(), await directories.make()];
    const checkpoints = checkpointFilesIn(place);
    const state = await DurableState.open(await LevelStore.open(directory), { randomBytes, encryptionKey });
    for (const index of [1, 2, 3]) {
      const payload = state.encode(put('routes', `r${index}`));
      await state.apply([{ index, payload }], index, { term: 1, time: index });
    }
    const image = await state.image();
    const { index, term, time } = image;
    const file = await checkpoints.write(image);
    await image.close();
    await state.close();
    await writeFile(join(directory, 'CURRENT'), 'damaged');

    const checkpoint = { ...file, index, term, time, config: emptyConfig };
    const store = await rebuildStore({ base: 2, checkpoint }, { directory, checkpoints, encryptionKey });
    const rebuilt = await DurableState.open(store, { randomBytes, encryptionKey });
    expect(rebuilt.view.applied).to.equal(3);
    expect(contentOf(rebuilt.view)).to.equal(contentOf(state.view));
    expect(rebuilt.identity.incarnation).not.to.equal(state.identity.incarnation);
    await rebuilt.close();
  });

  it('needs a log from its first entry on, or a checkpoint that reaches its beginning', () => {
    const checkpoint = { index: 5, term: 1, time: 1, file: 'f', size: 1, sha256: '', config: emptyConfig };
    expect(holdsAll({ base: 0, checkpoint: undefined })).to.equal(true);
    expect(holdsAll({ base: 5, checkpoint })).to.equal(true);
    expect(holdsAll({ base: 6, checkpoint })).to.equal(false);
    expect(holdsAll({ base: 1, checkpoint: undefined })).to.equal(false);
  });
});
