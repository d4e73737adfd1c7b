import { expect } from 'chai';
import fc from 'fast-check';
import { LineBytes } from '../../../../src/proxy/access-log/line-bytes.ts';
import { jsonInner } from '../../../../src/proxy/middleware/log-text.ts';
import { anyText } from '../../../support/any-text.ts';

describe('memory for log lines', () => {
  const harmless = /^[ !#-[\]-~]*$/;

  it('any pieces in turn are those texts in UTF-8, of any length and content', () => {
    const texts = fc.oneof(
      anyText(80),
      fc.string({ maxLength: 80 }),
      fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u007f', 'é', '\u2028', '€'), maxLength: 60 }),
    );
    const piece = fc.oneof(
      fc.record({ kind: fc.constantFrom('json', 'written', 'constant'), text: texts }),
      fc.record({ kind: fc.constant('count'), value: fc.maxSafeNat() }),
      fc.record({ kind: fc.constant('count'), value: fc.nat() }),
    );
    const line = new LineBytes();
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        let wanted = '';
        for (const each of pieces) {
          if ('value' in each) {
            line.count(each.value);
            wanted += each.value;
          } else if (each.kind === 'constant') {
            line.constant(Buffer.from(each.text));
            wanted += Buffer.from(each.text).toString();
          } else if (each.kind === 'written') {
            line.written(each.text);
            wanted += each.text;
          } else {
            line.text(each.text, jsonInner);
            wanted += jsonInner(each.text);
          }
        }
        expect(Buffer.from(line.take(64)).equals(Buffer.from(wanted))).to.equal(true);
      }),
      { numRuns: 100 },
    );
  });

  it('asks how a value is shown for each that is not printable ASCII without quotes and backslashes, and for no other', () => {
    for (const length of [1, 40]) {
      for (let code = 0; code < 0x180; code++) {
        const value = 'x'.repeat(length - 1) + String.fromCharCode(code);
        let asked = false;
        new LineBytes().text(value, (text) => {
          asked = true;
          return text;
        });
        expect(asked, `U+${code.toString(16)}`).to.equal(!harmless.test(value));
      }
    }
  });
});
