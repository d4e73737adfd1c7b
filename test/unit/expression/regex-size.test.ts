import { expect } from 'chai';
import fc from 'fast-check';
import { expandedSize } from '../../../src/expression/regex-size.ts';

describe('the size of a pattern with its repetitions written out', () => {
  for (const [pattern, size] of [
    ['', 0],
    ['abc', 3],
    ['a{5}', 5],
    ['a{2,7}', 7],
    ['a{3,}', 4],
    ['a{0}b{0,0}', 2],
    ['a{5}?b', 7],
    ['(?:ab{50}){20}', 20 * 54],
    ['(a{10}(b{10})){10}', 10 * (10 + 11 + 1)],
    ['[a-z{9}]{4}', 4],
    ['[]{9}]{4}', 4],
    ['[^]{9}]{4}', 4],
    ['[[:alpha:]\\]]{4}', 4],
    ['\\x{100}\\p{Greek}', 2],
    ['\\x{100}{3}', 3],
    ['\\{5}', 3],
    ['\\[{5}a', 6],
    ['\\Qa{9}(\\E{3}b', 5 + 2 + 1],
    ['a{', 2],
    ['a{x}{,5}', 8],
    ['(((a{3}', 3],
    ['a)b{3}', 5],
  ] as const) {
    it(`of ${pattern || 'nothing'} is ${size}`, () => expect(expandedSize(pattern)).to.equal(size));
  }

  it('is what counting a tree of pieces gives', () => {
    type Piece = readonly [text: string, size: number];
    const one = fc.constantFrom<Piece>(['a', 1], ['.', 1], ['[b{2}]', 1], ['\\d', 1], ['\\x{41}', 1], ['\\)', 1]);
    const { piece } = fc.letrec<{ piece: Piece; times: Piece; group: Piece }>((tie) => ({
      piece: fc.oneof({ depthSize: 'small' }, one, tie('times'), tie('group')),
      times: fc
        .tuple(tie('group'), fc.integer({ min: 1, max: 9 }))
        .map(([[text, size], n]): Piece => [`${text}{${n}}`, size * n]),
      group: fc
        .array(tie('piece'), { maxLength: 4 })
        .map(
          (inner): Piece => [
            `(?:${inner.map(([text]) => text).join('')})`,
            inner.reduce((sum, [, size]) => sum + size, 3),
          ],
        ),
    }));
    fc.assert(fc.property(piece, ([text, size]) => expandedSize(text) === size));
  });
});
