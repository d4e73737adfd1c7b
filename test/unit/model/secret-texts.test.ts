import { expect } from 'chai';
import { maskable, secretTextsOf, withoutTexts } from '../../../src/model/secret-texts.ts';

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
});
