import { expect } from 'chai';
import { unknownFieldWarnings } from '../../../src/resources/unknown-fields.ts';
import { refusal } from '../../support/refusal.ts';

describe('unknown fields', () => {
  it('are named by JSON pointer, one warning each', () => {
    expect(unknownFieldWarnings(['/a', '/b/0/c'], 'warn')).to.deep.equal({
      Warning: ['299 sluice "unknown field /a"', '299 sluice "unknown field /b/0/c"'],
    });
  });

  it('pass in silence when asked to, or when there are none', () => {
    expect(unknownFieldWarnings(['/a'], 'ignore')).to.deep.equal({});
    expect(unknownFieldWarnings([], 'strict')).to.deep.equal({});
  });

  it('are refused all at once when the request is strict', () => {
    const { code, message } = refusal(() => unknownFieldWarnings(['/a', '/b'], 'strict'));
    expect({ code, message }).to.deep.equal({ code: 'INVALID', message: 'unknown field /a; unknown field /b' });
  });

  it('cannot end the header or the quoted string by their names', () => {
    const [warning] = unknownFieldWarnings(['/a"\\\r\nX: é\u{1f600}%'], 'warn').Warning ?? [];
    expect(warning).to.equal('299 sluice "unknown field /a%22%5C%0D%0AX:%20%C3%A9%F0%9F%98%80%25"');
  });

  it('fill a bounded header however many there are, and however long', () => {
    for (const letter of ['x', 'é', '\u{1f600}']) {
      const pointers = Array.from({ length: 100_000 }, (_, index) => `/${letter.repeat(1000)}${index}`);
      const warnings = unknownFieldWarnings(pointers, 'warn').Warning ?? [];
      const left = 100_000 - (warnings.length - 1);
      expect(warnings.length).to.be.within(2, 21);
      expect(warnings.at(-1)).to.equal(`299 sluice "${left} more unknown fields"`);
      expect(warnings.join('').length).to.be.lessThan(4096);
    }
    const short = Array.from({ length: 100 }, (_, index) => `/a${index}`);
    expect(unknownFieldWarnings(short, 'warn').Warning).to.have.length(21);
  });
});
