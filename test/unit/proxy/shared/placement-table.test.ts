// The bounded table of sticky sessions that the workers of a process share.
import { expect } from 'chai';
import { PlacementTable } from '../../../../src/proxy/shared/placement-table.ts';

describe('the table of placements', () => {
  it('knows what was set, in every thread that has its memory, until its time has passed', () => {
    const table = PlacementTable.of(64);
    const elsewhere = new PlacementTable(table.buffer);
    for (let i = 1; i <= 20; i++) table.set(`session-${i}`, i, 100 + i);
    table.set('session-3', 33, 200);
    expect(elsewhere.get('session-3', 100)).to.equal(33);
    expect(elsewhere.get('session-4', 100)).to.equal(4);
    expect(elsewhere.get('session-4', 104)).to.equal(0);
    expect(elsewhere.get('session-21', 100)).to.equal(0);
  });

  it('is bounded: the placement that would expire first makes room', () => {
    const table = PlacementTable.of(8);
    for (let i = 1; i <= 1_000; i++) table.set(`session-${i}`, i, 1_000 + i);
    const known = Array.from({ length: 1_000 }, (_, i) => table.get(`session-${i + 1}`, 0));
    expect(known.filter((mark) => mark !== 0)).to.deep.equal([993, 994, 995, 996, 997, 998, 999, 1_000]);
  });

  it('an entry that two threads wrote at a time is none', () => {
    const table = PlacementTable.of(8);
    table.set('session', 7, 1_000);
    const cells = new Int32Array(table.buffer);
    const at = cells.indexOf(7);
    for (const place of [at - 1, at, at + 1]) {
      const was = cells[place] ?? 0;
      cells[place] = was ^ 1;
      expect(table.get('session', 0)).to.equal(0);
      cells[place] = was;
    }
    expect(table.get('session', 0)).to.equal(7);
  });
});
