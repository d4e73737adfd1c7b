import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';

const root = new URL('../../../', import.meta.url).pathname;

describe('the reporter of npm test', () => {
  it('explains a failure before the next test, and names it for the closing line', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-reporter-'));
    try {
      const file = join(folder, 'failing.test.mjs');
      const failed = join(folder, 'failed');
      writeFileSync(
        file,
        `describe('a kettle', () => {
          it('boils', () => { throw new Error('no water'); });
          it('whistles', () => {});
        });`,
      );
      const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
      const reporter = join(root, 'test/support/explaining-reporter.cjs');
      const env = { ...process.env, SLUICE_FAILED_TESTS: failed };
      const options = ['--no-config', '--no-package', '--parallel', '--reporter', reporter];
      const { stdout, status } = spawnSync(process.execPath, [mocha, ...options, file], { encoding: 'utf8', env });
      expect(status).to.equal(1);
      expect(stdout.indexOf('no water'), stdout).to.be.within(0, stdout.indexOf('whistles'));
      expect(JSON.parse(readFileSync(failed, 'utf8'))).to.deep.equal({
        name: 'a kettle boils',
        file: relative(process.cwd(), file),
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
