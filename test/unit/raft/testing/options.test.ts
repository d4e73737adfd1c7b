import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { firstComment } from '../../../../raft/testing/commands/options.ts';

const explore = fileURLToPath(new URL('../../../../raft/testing/commands/explore.ts', import.meta.url));
const run = (...args: string[]) => spawnSync(process.execPath, [explore, ...args], { encoding: 'utf8' });

describe('the options of a command for developers', () => {
  it('are told by the first comment of its file', () => {
    expect(firstComment('// `npm run x`: does\n// this.\nimport y;\n// More.\n')).to.equal('`npm run x`: does\nthis.');
    const { status, stdout } = run('--help');
    expect(status).to.equal(0);
    expect(stdout).to.include('raft:explore').and.include('--depth');
  });

  it('are refused in a line when they are unknown', () => {
    const { status, stderr } = run('--dept', '3');
    expect(status).to.equal(2);
    expect(stderr.trim().split('\n')).to.have.length(1);
    expect(stderr).to.include('--dept').and.include('--help');
  });
});
