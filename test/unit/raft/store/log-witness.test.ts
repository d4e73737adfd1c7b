import { expect } from 'chai';
import { Witness } from '../../../../raft/store/log-witness.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { inDirectory } from './log-directory.ts';

describe('the witness of a log', () => {
  it('notes the first batch at once, and those of the next moments together', () =>
    inDirectory(async (directory) => {
      const clock = new ManualClock();
      const witness = await Witness.open(directory, (ms, run) => clock.after(ms, run));
      witness.note(1);
      await eventually(() => expect(clock.pending).to.equal(1));
      for (const seq of [2, 3, 4]) witness.note(seq);
      expect(await Witness.read(directory)).to.deep.equal({ synced: 1 });
      clock.advance(20);
      await eventually(async () => expect(await Witness.read(directory)).to.deep.equal({ synced: 4 }));
      await witness.close();
    }));

  it('has the last note when it is closed, even while a write is under way', () =>
    inDirectory(async (directory) => {
      for (const notes of [[1], [2, 3], [4, 5, 6]]) {
        const clock = new ManualClock();
        const witness = await Witness.open(directory, (ms, run) => clock.after(ms, run));
        for (const seq of notes) witness.note(seq);
        if (notes.length > 2) await eventually(() => expect(clock.pending).to.equal(1));
        await witness.close();
        expect(await Witness.read(directory)).to.deep.equal({ synced: notes.at(-1) });
        expect(clock.pending).to.equal(0);
      }
    }));
});
