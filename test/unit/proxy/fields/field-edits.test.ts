// Edits of fields, compared: what they leave is told without the lines being written.
import { expect } from 'chai';
import { editedLines, FieldEdits } from '../../../../src/proxy/fields/field-edits.ts';
import { FieldList } from '../../../../src/proxy/fields/field-lines.ts';
import { seededRandom } from '../../../support/random.ts';

const names = ['a', 'B', 'c'] as const;
const lines = new FieldList(['a', '1', 'x', 'left', 'B', '2', 'A', '3']);

function randomEdits(random: () => number): FieldEdits {
  const edits = new FieldEdits();
  for (let count = Math.floor(random() * 4); count > 0; count--) {
    const name = names[Math.floor(random() * names.length)] ?? 'a';
    const value = String(1 + Math.floor(random() * 3));
    const [set, append, remove] = [
      () => edits.set(name, value),
      () => edits.append(name, value),
      () => edits.remove(name),
    ];
    ([set, append, remove, () => edits.removeParsed(name)][Math.floor(random() * 4)] ?? set)();
  }
  return edits;
}

/** Lines after the edits, those of one name in their order. */
const textOf = (of: FieldList, edits: FieldEdits): string =>
  Array.from(editedLines(of, edits), ([lower, , value]) => [lower, value] as const)
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .join('\n');

describe('edits of fields', () => {
  it('leave the same exactly where the lines that they write are the same', () => {
    const random = seededRandom(40);
    const seen = { same: 0, other: 0 };
    for (let round = 0; round < 20_000; round++) {
      const [one, other] = [randomEdits(random), randomEdits(random)];
      const isSame = textOf(lines, one) === textOf(lines, other);
      seen[isSame ? 'same' : 'other'] += 1;
      expect(one.leavesSame(other, lines), `round ${round}`).to.equal(isSame);
    }
    expect(Math.min(seen.same, seen.other)).to.be.above(1_000);
  });

  it('leave the same of unknown lines exactly where they do so of lines that have each name, with values of their own', () => {
    const random = seededRandom(41);
    const each = new FieldList(names.flatMap((name) => [name, `own ${name}`]));
    for (let round = 0; round < 20_000; round++) {
      const [one, other] = [randomEdits(random), randomEdits(random)];
      expect(one.leavesSame(other), `round ${round}`).to.equal(textOf(each, one) === textOf(each, other));
    }
  });
});
