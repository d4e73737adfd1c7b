import { expect } from 'chai';
import { describe, it } from 'mocha';
import { proseIn, sentencesOf } from '../../../scripts/prose.ts';

describe('prose of sources and pages', () => {
  it('has the header, doc comments and messages of a source, each with its line', () => {
    const source =
      '// Header.\nimport x from "y";\n\n/** Doc of f. */\nexport const f = () => `${x} failed`; // Aside.\n';
    expect(proseIn('src/f.ts', source)).to.deep.equal([
      { line: 1, text: 'Header.', opens: true },
      { line: 2, text: 'y', opens: false },
      { line: 4, text: 'Doc of f.', opens: true },
      { line: 5, text: '', opens: false },
      { line: 5, text: ' failed'.trim(), opens: false },
      { line: 5, text: 'Aside.', opens: false },
    ]);
  });

  it('has the first word of a doc comment of several lines', () => {
    const source = 'import x from "y";\n/**\n * What f is.\n * More.\n */\nexport const f = x;\n';
    expect(proseIn('src/f.ts', source).find(({ opens }) => opens)?.text).to.equal('What f is.\nMore.');
  });

  it('has names of tests and no other text of a test', () => {
    const source = "it('ring leaves nobody', () => expect(say('nobody')).to.be.true);";
    expect(proseIn('test/unit/f.test.ts', source).map(({ text }) => text)).to.deep.equal(['ring leaves nobody']);
  });

  it('leaves code spans and code blocks of a page out and keeps its lines', () => {
    expect(sentencesOf('a `nobody` b\n```sh\nnobody\n```\nwhom\n').map(({ text }) => text)).to.deep.equal([
      'a          b',
      '',
      '',
      '',
      'whom',
      '',
    ]);
  });
});
