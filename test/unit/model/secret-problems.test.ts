import { expect } from 'chai';
import { secretsById, withoutSecrets } from '../../../src/model/secret-problems.ts';

describe('problems of a configuration with secrets', () => {
  it('keep their place and lose their words where the string came from a secret', () => {
    const problems = [
      { pointer: '/routes/r/match/cel', message: 'quotes S3CRET' },
      { pointer: '/routes/q/match/cel', message: 'is no expression' },
    ];
    expect(withoutSecrets(problems, ['/routes/r/match/cel'])).to.deep.equal([
      { pointer: '/routes/r/match/cel', message: 'cannot be used; it holds a secret' },
      problems[1],
    ]);
    expect(withoutSecrets(problems, undefined)).to.deep.equal(problems);
  });

  it('lose their words about what such a string lies in and what lies in it, not about a whole entity', () => {
    const secret = '/middlewares/m/jwt/providers/0/jwks';
    const told = (pointer: string) => withoutSecrets([{ pointer, message: 'quotes S3CRET' }], [secret])[0]?.message;
    for (const pointer of ['/middlewares/m/jwt', '/middlewares/m/jwt/providers/0', secret, `${secret}/keys/0`]) {
      expect(told(pointer), pointer).to.equal('cannot be used; it holds a secret');
    }
    for (const pointer of ['/middlewares/m', '/middlewares/m/jwt/providers/1', `${secret}2`, '/middlewares/n/jwt']) {
      expect(told(pointer), pointer).to.equal('quotes S3CRET');
    }
  });

  it('are found by the ids of entities', () => {
    const routes = [{ id: 'a/b', name: 'a', match: {} }];
    const snapshot = { listeners: [], destinations: [], routes, groups: [], middlewares: [] };
    const secrets = ['/snapshot/routes/0/match/cel', '/snapshot/routes/1/match/cel', '/snapshot/nothing/0/x', 'x'];
    expect(secretsById({ secrets, snapshot })).to.deep.equal(['/routes/a~1b/match/cel']);
    expect(secretsById({ snapshot })).to.equal(undefined);
  });
});
