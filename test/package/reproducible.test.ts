import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { needs } from '../support/needs.ts';
import { packages } from '../support/packages.ts';

const root = join(import.meta.dirname, '../..');
const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' });
const sums = (folder: string) => readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');

describe('two packagings of one commit in two directories', () => {
  it('leave the same bytes', async function () {
    const executable = packages.executable('linux-x64');
    needs(this, join(packages.folder, 'SHA256SUMS'), executable, packages.executable('linux-arm64'), 'git');
    const said = execFileSync(executable, ['version', '--json'], { encoding: 'utf8' });
    const { commit } = JSON.parse(said) as { commit: string };
    // A clone has what is committed, and nothing else.
    if (git('status', '--porcelain', '--untracked-files=no') !== '') {
      process.stderr.write(`left out, needs a tree without changes: ${this.test?.fullTitle()}\n`);
      this.skip();
    }
    const folder = mkdtempSync(join(root, 'dist.clone-'));
    try {
      const clone = join(folder, 'a-directory-of-another-length');
      git('clone', '--quiet', root, clone);
      execFileSync('git', ['-C', clone, 'checkout', '--quiet', commit]);
      // The same packages, as `npm ci` installs them. Links, for they are many.
      execFileSync('cp', ['-al', join(root, 'node_modules'), join(clone, 'node_modules')]);
      // Libraries of the image are fetched anew.
      rmSync(join(clone, 'node_modules/.cache/debian'), { recursive: true, force: true });
      const args = ['scripts/package.mjs', '--target', 'linux-x64,linux-arm64'];
      execFileSync(process.execPath, args, { cwd: clone, stdio: ['ignore', 'ignore', 'inherit'] });
      expect(sums(join(clone, 'out'))).to.deep.equal(sums(packages.folder));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
