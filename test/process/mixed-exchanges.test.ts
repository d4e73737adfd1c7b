// No byte, field or trailer of one exchange in another, whatever its neighbours do; see test/support/mixed-exchanges.ts.
import { expect } from 'chai';
import { goProgram } from '../support/foreign-program.ts';
import { mixedExchanges } from '../support/mixed-exchanges.ts';
import { needs } from '../support/needs.ts';

describe('mixed exchanges', () => {
  before(function () {
    needs(this, goProgram);
  });

  for (const [rough, seed] of [
    [false, 2],
    [true, 1],
  ] as const) {
    it(`are each of one client ${rough ? 'while upstreams break off' : 'and go as they should'}`, async () => {
      const { failures, counts } = await mixedExchanges({ seed, seconds: 7, rough });
      expect(failures.slice(0, 10)).to.deep.equal([]);
      for (const kind of ['plain', 'wait', 'retry', 'mirror', 'fields', 'authz', 'streamed', 'pipelines', 'tunnels'])
        expect(counts[kind], kind).to.be.greaterThan(0);
    }).timeout(120_000);
  }
});
