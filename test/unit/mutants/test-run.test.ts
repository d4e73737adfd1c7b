import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { mochaArguments, runTests, Tally, type TestResult } from '../../mutants/test-run.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const run = (program: string, withinMs = 60_000): TestResult => runTests(['-e', program], process.env, withinMs);

/** Command lines of all processes. */
const commandLines = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(join('/proc', name, 'cmdline'), 'utf8');
      } catch {
        return '';
      }
    });

describe('tests against a planted bug', () => {
  const directories = new TemporaryDirectories();
  after(() => directories.removeAll());

  it('pass, fail, crash or do not come to their end', () => {
    expect(run('')).to.equal('passed');
    expect(run('process.exit(3)')).to.equal('failed');
    expect(run('process.abort()')).to.equal('failed');
    expect(run('setInterval(() => {}, 1e6)', 500)).to.equal('timedOut');
  });

  it('that have no end are ended with all processes of mocha', async function () {
    if (process.platform !== 'linux') this.skip();
    const file = join(await directories.make(), 'endless.test.ts');
    writeFileSync(file, "describe('x', () => { it('y', () => { for (;;); }); });");
    expect(runTests([...mochaArguments(), file], process.env, 1_500)).to.equal('timedOut');
    expect(commandLines().filter((line) => line.includes(file))).to.deep.equal([]);
  });

  it('are counted apart: a run that timed out neither kills nor lets survive', () => {
    const tally = new Tally();
    expect(tally.score).to.equal(1);
    tally.add({ killed: 3, timedOut: 5, survived: 1 });
    expect(tally.score).to.equal(0.75);
    expect(`${tally}`).to.equal('3 of 9 killed, 5 timed out, 1 survived');
  });
});
