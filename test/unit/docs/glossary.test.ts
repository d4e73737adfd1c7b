import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const glossary = 'docs/glossary.md';
const lines = readFileSync(glossary, 'utf8').split('\n');
const first = lines.findIndex((line) => line.startsWith('- '));
const entries = lines.slice(first).filter((line) => line !== '');
const terms = entries.map((entry) => /^- \*\*([^*]+)\*\*: \S/.exec(entry)?.[1] ?? '');

const uses = (term: string): RegExp => new RegExp(`\\b${term.replaceAll(' ', '[ -]')}(s|es|ed|d|ing)?\\b`, 'i');

describe('docs/glossary.md', () => {
  it('has entries of the form `- **term**: meaning` alone', () => {
    for (const entry of entries) expect(entry).to.match(/^- \*\*[^*]+\*\*: \S.*\.$/);
  });

  it('has at least 40 terms, each once, in the order of the alphabet', () => {
    expect(terms).to.have.length.of.at.least(40);
    const inOrder = [...new Set(terms)].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase(), 'en'));
    expect(terms).to.deep.equal(inOrder);
  });

  it('has terms alone that sources or other pages use', () => {
    const files = globSync(['{src,raft,disk,program}/**/*.ts', 'docs/**/*.md', '*.md']);
    const text = files.flatMap((file) => (file === glossary ? [] : readFileSync(file, 'utf8'))).join('\n');
    expect(text.length).to.be.greaterThan(1_000_000);
    expect(terms.filter((term) => !uses(term).test(text))).to.deep.equal([]);
  });
});
