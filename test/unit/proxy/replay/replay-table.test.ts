// Table that recorded requests are matched against: made from the table of the configuration, not beside it.
import { expect } from 'chai';
import { compileInSlices } from '../../../../src/proxy/compile/compile-in-slices.ts';
import { replayTable } from '../../../../src/proxy/replay/replay-table.ts';
import { drain } from '../../../../src/util/time-slice.ts';
import { cleanTable } from '../../../support/clean-table.ts';

describe('the table of a replay', () => {
  it('has entries of its own only where they ask for what a record may lack, after a change of one route too', async () => {
    const configuration = cleanTable(4_000);
    const [first, ...others] = configuration.routes;
    const changed = {
      ...configuration,
      routes: [{ ...first, match: { path: '/a' } }, ...others],
    } as typeof configuration;
    const before = await compileInSlices(configuration);
    const after = await compileInSlices(changed, before.memory);
    for (const { table } of [before, after]) {
      if (table === undefined) throw new Error('the table does not compile');
      const made = drain(replayTable(changed, table)).table.entries;
      expect(made.map(({ route }) => route)).to.deep.equal(table.entries.map(({ route }) => route));
      const own = made.filter((entry, at) => entry !== table.entries[at]);
      expect(own.length).to.be.within(500, 600);
      for (const { route } of own) expect(route.match?.headers).to.have.lengthOf(1);
    }
    expect(after.table?.automata).to.equal(before.table?.automata);
  });
});
