import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = new URL('../../../../', import.meta.url);
const core = new URL('raft/core/', root);
const files = readdirSync(core).filter((name) => name.endsWith('.ts'));

describe('raft/core', () => {
  it('compiles without the types of any platform', () => {
    const compiler = fileURLToPath(new URL('node_modules/typescript-native/bin/tsc', root));
    const run = spawnSync(process.execPath, [compiler, '-p', fileURLToPath(new URL('tsconfig.json', core))]);
    expect(String(run.stdout)).to.equal('');
    expect(run.status).to.equal(0);
  });

  it('has neither clock nor chance nor anything that waits', () => {
    const banned =
      /\bDate\b|Math\.random|\basync\b|\bawait\b|\bPromise\b|setTimeout|setInterval|performance|process\.|queueMicrotask/;
    const offenders = files.filter((name) => banned.test(withoutComments(readFileSync(new URL(name, core), 'utf8'))));
    expect(files.length).to.be.greaterThan(10);
    expect(offenders).to.deep.equal([]);
  });

  it('imports nothing but itself', () => {
    const foreign = files.filter((name) => /from '(?!\.\/)/.test(readFileSync(new URL(name, core), 'utf8')));
    expect(foreign).to.deep.equal([]);
  });
});

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
}
