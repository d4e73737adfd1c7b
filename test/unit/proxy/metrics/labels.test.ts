import { expect } from 'chai';
import fc from 'fast-check';
import { labelsText } from '../../../../src/proxy/metrics/families.ts';

/** As the exposition format says it is read: `\\`, `\"` and `\n` in a quoted value, which holds no line break. */
function read(text: string): [string, string][] {
  const labels: [string, string][] = [];
  for (const [, name = '', value = ''] of text.matchAll(/(\w+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/g))
    labels.push([name, value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))]);
  return labels;
}

describe('labels', () => {
  it('are written so that any content is read again: quotes, backslashes, line breaks, any text', () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('"', '\\', '\n', 'n', ',') }),
    );
    fc.assert(
      fc.property(value, value, (route, group) => {
        const labels: [string, string][] = [
          ['route', route],
          ['group', group],
        ];
        expect(read(labelsText(labels))).to.deep.equal(labels);
      }),
    );
  });
});
