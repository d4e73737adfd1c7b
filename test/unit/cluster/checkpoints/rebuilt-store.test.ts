import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { emptyConfig } from '../../../../raft/core/types.ts';
import { checkpointFilesIn } from '../../../../src/cluster/checkpoints/generation-directories.ts';
import { holdsAll, rebuildState } from '../../../../src/cluster/checkpoints/rebuilt-store.ts';
import { DurableState } from '../../../../src/state/durable-state.ts';
import { LevelStore } from '../../../../src/state/level-store.ts';
import { put } from '../../../support/commands.ts';
import { rejection } from '../../../support/rejection.ts';
import { contentOf } from '../../../support/store-content.ts';
import { TemporaryDirectories } from '../../../support/temporary-directory.ts';

describe('a store that is built anew', () => {
  const directories = new TemporaryDirectories();
  afterEach(() => directories.removeAll());

  /** Directory of a damaged store, and the checkpoint of what it held. */
  const damagedStore = async (encryptionKey: Uint8Array) => {
    const [directory, place] = [await directories.make(), await directories.make()];
    const checkpoints = checkpointFilesIn(place);
    const state = await DurableState.open(await LevelStore.open(directory), { randomBytes, encryptionKey });
    for (const index of [1, 2, 3]) {
      const payload = state.encode(put('secrets', `s${index}`, { value: 'v' }));
      await state.apply([{ index, payload }], index, { term: 1, time: index });
    }
    const image = await state.image();
    const { index, term, time } = image;
    const file = await checkpoints.write(image);
    await image.close();
    await state.close();
    await writeFile(join(directory, 'CURRENT'), 'damaged');
    return { state, directory, checkpoints, checkpoint: { ...file, index, term, time, config: emptyConfig } };
  };

  it('holds what its checkpoint holds, under an identity of its own', async () => {
    const encryptionKey = randomBytes(32);
    const { state, directory, checkpoints, checkpoint } = await damagedStore(encryptionKey);
    const options = { randomBytes, encryptionKey };
    const rebuilt = await rebuildState({ base: 2, checkpoint }, { directory, checkpoints, options });
    expect(rebuilt.view.applied).to.equal(3);
    expect(contentOf(rebuilt.view)).to.equal(contentOf(state.view));
    expect(rebuilt.identity.incarnation).not.to.equal(state.identity.incarnation);
    await rebuilt.close();
  });

  it('leaves nothing behind where it was given the wrong key, or none: the next start may have the right one', async () => {
    const encryptionKey = randomBytes(32);
    const { state, directory, checkpoints, checkpoint } = await damagedStore(encryptionKey);
    const rebuild = (key: Uint8Array | undefined) =>
      rebuildState(
        { base: 2, checkpoint },
        { directory, checkpoints, options: { randomBytes, ...(key && { encryptionKey: key }) } },
      );
    for (const key of [undefined, randomBytes(32)]) {
      expect((await rejection(rebuild(key))).message).to.match(/is damaged/);
      expect(existsSync(directory)).to.equal(false);
    }
    const rebuilt = await rebuild(encryptionKey);
    expect(contentOf(rebuilt.view)).to.equal(contentOf(state.view));
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
