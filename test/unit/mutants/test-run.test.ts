import { expect } from 'chai';
import { runTests, Tally, type TestResult } from '../../mutants/test-run.ts';

const run = (program: string, withinMs = 60_000): TestResult => runTests(['-e', program], process.env, withinMs);

describe('tests against a planted bug', () => {
  it('pass, fail, crash or do not come to their end', () => {
    expect(run('')).to.equal('passed');
    expect(run('process.exit(3)')).to.equal('failed');
    expect(run('process.abort()')).to.equal('failed');
    expect(run('setInterval(() => {}, 1e6)', 500)).to.equal('timedOut');
  });

  it('are counted apart: a run that timed out neither kills nor lets survive', () => {
    const tally = new Tally();
    expect(tally.score).to.equal(1);
    tally.add({ killed: 3, timedOut: 5, survived: 1 });
    expect(tally.score).to.equal(0.75);
    expect(`${tally}`).to.equal('3 of 9 killed, 5 timed out, 1 survived');
  });
});
