// One meaning a word: names of files and of the types that were once declared many times.
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';

const root = new URL('../../../', import.meta.url).pathname;
const files = globSync('{src,raft,disk,program}/**/*.ts', { cwd: root, exclude: ['**/testing/**'] });

const repeated = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name, at) => names.indexOf(name) !== at)),
];

describe('names of production code', () => {
  it('tell files apart, but for entry points', () => {
    expect(files.length).to.be.above(1_000);
    expect(repeated(files.map((file) => basename(file)))).to.deep.equal(['main.ts']);
  });

  for (const word of ['Place', 'Outcome', 'Verdict', 'Proposal', 'Refusal', 'Choice', 'Entry', 'Member']) {
    it(`have one meaning of ${word}`, () => {
      const declaration = new RegExp(`^(?:export )?(?:abstract )?(?:interface|class|type) ${word}\\b(?! *,)`, 'm');
      const places = files.filter((file) => declaration.test(readFileSync(`${root}${file}`, 'utf8')));
      expect(places).to.have.length.of.at.most(1);
    });
  }
});
