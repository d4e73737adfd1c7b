import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalLiteral } from '../../../src/model/canonical-path.ts';
import { maskable, secretTextsOf, valueWithoutTexts, withoutTexts } from '../../../src/model/secret-texts.ts';
import { anyText } from '../../support/any-text.ts';

describe('texts that came from secrets', () => {
  it('are masked longest first, and short ones are no secrets', () => {
    const texts = maskable(['pass', 'password', 'abc', 'pass']);
    expect(texts).to.deep.equal(['password', 'pass']);
    expect(withoutTexts('password, pass, abc', texts)).to.equal('***, ***, abc');
  });

  it('are found by their pointers, which may lead nowhere', () => {
    const listeners = [{ id: 'l', name: 'l', port: 1, address: 'from secret', 'a/~b': 'by an odd name' }];
    const snapshot = { listeners, destinations: [], routes: [], groups: [], middlewares: [] };
    const pointers = ['address', 'a~1~0b', 'port', 'none/x', 'toString'].map((end) => `/snapshot/listeners/0/${end}`);
    expect(secretTextsOf({ snapshot, secrets: [...pointers, '/snapshot/routes/0', 'x'] })).to.deep.equal([
      'by an odd name',
      'from secret',
    ]);
    expect(secretTextsOf({ snapshot })).to.deep.equal([]);
  });

  const awkward = 'Pa"ss\\w%rd\n<é€\u{1f511}>&+ =.*C%41F\t\'';
  const spellings: readonly [what: string, spelled: (text: string) => string][] = [
    ['as it is', (text) => text],
    ['as JSON', (text) => JSON.stringify(text)],
    [
      'as JSON in ASCII',
      (text) =>
        JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ],
    ['percent-encoded as a URL', encodeURI],
    ['percent-encoded as a component', encodeURIComponent],
    ['as a canonical path', (text) => canonicalLiteral(`/${text}`)?.slice(1) ?? ''],
    ['in lower case', (text) => text.toLowerCase()],
    ['as the bytes of a field', (text) => Buffer.from(text).toString('latin1')],
    ['quoted in a pattern', (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')],
    ['without the blanks around it', (text) => text.trim()],
  ];
  for (const [what, spelled] of spellings) {
    it(`are masked where they are written ${what}`, () => {
      fc.assert(
        fc.property(fc.oneof(fc.constant(awkward), fc.string({ minLength: 6, unit: 'grapheme' })), (secret) => {
          const text = spelled(secret);
          if (secret.trim().length < 4 || text.trim().length < 4 || !secret.isWellFormed()) return;
          if (what === 'as a canonical path' && /\/|\0|\\./.test(secret)) return;
          const shown = withoutTexts(`before ${text} after`, maskable([secret]));
          expect(shown, text).to.contain('***');
          const rest = shown.replaceAll('***', '').replace('before ', '').replace(' after', '').replaceAll('"', '');
          expect(rest.trim(), text).to.equal('');
        }),
        { numRuns: 200, seed: 31 },
      );
    });
  }

  it('are masked in every string of a value, and nowhere else', () => {
    const value = { a: ['x', `1 ${encodeURIComponent(awkward)} 2`], n: 4, none: null, b: { c: awkward } };
    expect(valueWithoutTexts(value, maskable([awkward]))).to.deep.equal({
      a: ['x', '1 *** 2'],
      n: 4,
      none: null,
      b: { c: '***' },
    });
  });

  it('are found in any case of their letters, and other characters stay apart', () => {
    expect(withoutTexts('ABCXYZ abcxyz', maskable(['aBcXyZ']))).to.equal('*** ***');
    expect(withoutTexts('`{@[1234', maskable(['@[1234']))).to.equal('`{***');
    expect(withoutTexts('`{1234', maskable(['@[1234']))).to.equal('`{1234');
  });

  it('leave other texts as they are, with any escapes in them', () => {
    fc.assert(
      fc.property(anyText(20), (text) => {
        expect(withoutTexts(text, maskable(['no such text']))).to.equal(text);
      }),
    );
    expect(withoutTexts('caf%C3%A9 caf\\u00e9 café', maskable(['café']))).to.equal('*** *** ***');
  });
});
