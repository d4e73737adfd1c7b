import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { applyEdit } from '../../../raft/testing/mutants/table.ts';
import { furtherMutants, mutants } from '../../simulation/cluster/mutant-table.ts';

const root = new URL('../../../', import.meta.url);

describe('the bugs planted above raft', () => {
  for (const { name, edits } of [...mutants, ...furtherMutants]) {
    it(`change the source: ${name}`, () => {
      for (const edit of edits) {
        const source = readFileSync(new URL(edit.file, root), 'utf8');
        expect(applyEdit(source, edit)).not.to.equal(source);
      }
    });
  }
});
