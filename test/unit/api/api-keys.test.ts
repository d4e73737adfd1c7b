import { expect } from 'chai';
import { ApiKeys } from '../../../src/api/api-keys.ts';
import { refusal } from '../../support/refusal.ts';

describe('API keys', () => {
  const keys = new ApiKeys({
    keys: [
      { name: 'ops', key: 'k-ops', role: 'admin' },
      { name: 'ci', key: 'k-ci', role: 'editor' },
    ],
    nowMs: () => 0,
  });

  it('lets every client in as admin when none are configured', () => {
    expect(new ApiKeys({ keys: [], nowMs: () => 0 }).callerOf(undefined).caller).to.deep.equal({
      name: '',
      role: 'admin',
    });
  });

  it('finds the holder of any of them', () => {
    expect(keys.callerOf('Bearer k-ops').caller).to.deep.equal({ name: 'ops', role: 'admin' });
    expect(keys.callerOf('Bearer k-ci').caller).to.deep.equal({ name: 'ci', role: 'editor' });
  });

  it('takes the scheme in any case, and any number of blanks behind it', () => {
    for (const scheme of ['bearer ', 'BEARER ', 'Bearer   ']) {
      expect(keys.callerOf(`${scheme}k-ops`).caller).to.deep.equal({ name: 'ops', role: 'admin' });
    }
  });

  const refused: [what: string, header: string | undefined, message: string][] = [
    ['no header', undefined, 'missing authorization header'],
    ['another scheme', 'Basic b3Bz', 'authorization header must use Bearer scheme'],
    ['no token', 'Bearer', 'authorization header must use Bearer scheme'],
    ['an empty token', 'Bearer ', 'invalid API key'],
    ['a prefix of a key', 'Bearer k-op', 'invalid API key'],
    ['an unknown key', 'Bearer nobody', 'invalid API key'],
  ];
  for (const [what, header, message] of refused) {
    it(`refuses ${what}`, () => {
      expect(refusal(() => keys.callerOf(header))).to.include({ code: 'UNAUTHENTICATED', message });
    });
  }

  it('refuses two headers, of which an intermediary may have read the other', () => {
    const message = 'more than one authorization header';
    expect(refusal(() => keys.callerOf('Bearer k-ops', 2))).to.include({ code: 'UNAUTHENTICATED', message });
  });
});
