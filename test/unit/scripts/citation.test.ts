import { expect } from 'chai';
import { citationsIn, linksIn, rulesOf, unwrapped } from '../../../scripts/citation.ts';

describe('citations of pages', () => {
  const rulesIn = (text: string): string[] => citationsIn(text).flatMap(({ rules }) => rules);

  it('name sections, lists and ranges of them, and rules', () => {
    expect(rulesIn('see contract.md §0.2 and §3.1, about')).to.deep.equal(['0.2', '3.1']);
    expect(rulesIn('(contract.md §2.3.1–§2.3.7)')).to.deep.equal(['2.3.1', '2.3.7']);
    expect(rulesIn('architecture.md §6.7–8 says')).to.deep.equal(['6.7', '6.8']);
    expect(rulesIn('raft.md A14 M8, A19)')).to.deep.equal(['A14', 'M8', 'A19']);
    expect(rulesIn('raft.md C6, rows 1 to 3')).to.deep.equal(['C6']);
    expect(rulesIn('in docs/raft.md. A Node')).to.deep.equal([]);
  });

  it('run over the lines of a comment', () => {
    expect(rulesIn(unwrapped('// so it is (contract.md §1,\n// §2.2).'))).to.deep.equal(['1', '2.2']);
    expect(rulesIn(unwrapped('/**\n * By fleet.md\n * §4.\n */'))).to.deep.equal(['4']);
  });

  it('may have a folder', () => {
    const [citation] = citationsIn('docs/decisions/page-guard.md');
    expect(citation).to.include({ folder: 'docs/decisions/', name: 'page-guard.md' });
  });

  it('find headings, items, rules and rows', () => {
    const markdown =
      '## 6. Decisions\n\n18. **Fences**\n\n### 6.2 Path\n\n- **P3** sync\n\n## A6. Disk\n\n1. bytes\n\n| J12 | text |\n';
    expect([...rulesOf(markdown)]).to.deep.equal(['6', '6.18', '6.2', 'P3', 'A6', 'A6.1', 'J12']);
  });

  it('and links are to files', () => {
    expect(linksIn('[a](raft.md#roles) [b](#here) [c](https://a.example/x)')).to.deep.equal(['raft.md']);
  });
});
