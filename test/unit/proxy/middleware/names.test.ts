import { expect } from 'chai';
import { compileNamePatterns } from '../../../../src/proxy/middleware/name-pattern.ts';
import { protectedHeaders } from '../../../../src/proxy/middleware/protected-headers.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

describe('header name patterns (contract.md §8.0)', () => {
  it('are exact, in upper or lower case, or a beginning followed by *', () => {
    const test = compileNamePatterns(['X-User', 'x-auth-*']);
    for (const name of ['x-user', 'x-auth-', 'x-auth-a']) expect(test(name), name).to.equal(true);
    for (const name of ['x-users', 'x-auth', 'a-x-user']) expect(test(name), name).to.equal(false);
    expect(compileNamePatterns(['*'])('anything')).to.equal(true);
    expect(compileNamePatterns([])('anything')).to.equal(false);
  });
});

describe('headers that a protection sets (security.md S15)', () => {
  const left = (patterns: readonly string[], names: readonly string[]) => {
    const exchange = new StubExchange({ fields: names.flatMap((name) => [name, 'forged']) });
    protectedHeaders(patterns).strip(exchange.seen);
    return exchange.sent.map((line) => line.split(':')[0]);
  };

  it('are removed in dash, underscore and case variants', () => {
    const forged = ['X-User-Id', 'x_user_id', 'X-USER_ID', 'x_user-id', 'x-user-id'];
    expect(left(['x-user-id'], [...forged, 'x-user', 'x_userid', 'X-Other'])).to.deep.equal([
      'x-user',
      'x_userid',
      'X-Other',
    ]);
    expect(left(['X_User_Id'], [...forged, 'x-other'])).to.deep.equal(['x-other']);
  });

  it('are removed by their beginning as well', () => {
    expect(left(['x-auth-*'], ['X-Auth-User', 'x_auth_role', 'x-auth', 'X-Other'])).to.deep.equal([
      'x-auth',
      'X-Other',
    ]);
  });

  it('do not come in again behind the body, as trailers', () => {
    const trailers = 'X-User: forged\r\nx_user: forged\r\nX_AUTH-Role: forged\r\nx-gone: forged\r\nX-Checksum: 7\r\n';
    const exchange = new StubExchange();
    const { edits } = exchange.seen.request;
    expect(edits.trailersOf(trailers)).to.equal(trailers);
    protectedHeaders(['x-user', 'x-auth-*']).strip(exchange.seen);
    edits.remove('X-Gone');
    expect(edits.copy().trailersOf(trailers)).to.equal('X-Checksum: 7\r\n');
    edits.clear();
    protectedHeaders(['x-auth-*']).stripClientHeaders(exchange.seen);
    expect(edits.trailersOf('X-Auth-Role: forged\r\n')).to.equal('');
  });
});
