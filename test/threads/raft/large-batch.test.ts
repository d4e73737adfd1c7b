import { expect } from 'chai';
import type { Entry } from '../../../raft/core/types.ts';
import { appendBatch, entriesFrom, inDirectory, reopen, storeIn, write } from '../../unit/raft/store/log-directory.ts';

/** More than the heap of a large batch's thread has room for. */
const operations = 100_000;

describe('a large batch', () => {
  it('may come with any number of small entries', () =>
    inDirectory(async (directory) => {
      const [first, ...others] = entriesFrom(1, operations);
      const large = { ...first, payload: new Uint8Array(5 * 1024 * 1024).fill(7) } as Entry;
      const store = storeIn(directory);
      await store.open();
      await write(store, { ...appendBatch(1, 0), entries: [large, ...others] });
      await store.close({ clean: false });
      const { boot, verdict } = await reopen(directory);
      expect(verdict.kind).to.equal('clean');
      expect(boot.entries).to.have.length(operations);
      expect(boot.entries[0]).to.deep.equal(large);
    })).timeout(120_000);
});
