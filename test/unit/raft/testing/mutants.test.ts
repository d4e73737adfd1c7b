import { readFileSync } from 'node:fs';
import { expect } from 'chai';

import { applyEdit, foundOnce, mutants, ofRules } from '../../../../raft/testing/mutants/table.ts';

const raft = new URL('../../../../raft/', import.meta.url);

describe('the planted bugs', () => {
  const all = [...mutants, ...ofRules, ...foundOnce];

  it('have names of their own', () => {
    expect(new Set(all.map(({ name }) => name)).size).to.equal(all.length);
  });

  for (const { name, edits } of all) {
    it(`change the source: ${name}`, () => {
      for (const edit of edits) {
        const source = readFileSync(new URL(edit.file, raft), 'utf8');
        expect(applyEdit(source, edit)).not.to.equal(source);
      }
    });
  }
});
