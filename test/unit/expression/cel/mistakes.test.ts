import { expect } from 'chai';
import { checkCel, compileCel } from '../../../../src/expression/cel/compiled-program.ts';
import { ExpressionError } from '../../../../src/expression/expression-error.ts';

const table: readonly (readonly [source: string, message: string])[] = [
  ['reqest.method == "GET"', 'cel: Unknown variable: reqest at line 1, column 1'],
  ['request.methd == "GET"', 'cel: No such key: methd at line 1, column 9'],
  ['request["methd"] == "GET"', 'cel: No such key: methd at line 1, column 1'],
  ['has(request.nope)', 'cel: No such key: nope at line 1, column 13'],
  ['has(request.tls.peerCertificat.uris)', 'cel: No such key: peerCertificat at line 1, column 17'],
  ['"nope" in request', 'cel: No such key: nope at line 1, column 1'],
  ['request.method == 5', 'cel: no such overload: string == int at line 1, column 1'],
  [
    'request.method.startWith("G")',
    "cel: found no matching overload for 'string.startWith(string)' at line 1, column 1",
  ],
  ['request.path', 'cel: must be a bool, is string at line 1, column 1'],
  ['request.headers', 'cel: must be a bool, is map<string, string> at line 1, column 1'],
  ['request.method == "GET" &&', 'cel: Unexpected token: EOF at line 1, column 27'],
  ["request.method == 'GET", 'cel: Unterminated string at line 1, column 19'],
  ['true &&\n  request.nope', 'cel: No such key: nope at line 2, column 11'],
  ['request.path.matches("[b")', 'cel: regex: missing closing ]: [b at line 1, column 22'],
  ['request.path.matches(request.method)', 'cel: matches() needs a constant pattern at line 1, column 22'],
  ['matches(request.path, "(")', 'cel: regex: missing closing ): ( at line 1, column 23'],
  ['', 'cel: Unexpected token: EOF at line 1, column 1'],
];

describe('a mistaken expression', () => {
  for (const [source, message] of table) {
    it(`is refused with its place: ${JSON.stringify(source)}`, () => {
      expect(checkCel(source, 'request', 'bool')).to.equal(message);
      expect(() => compileCel(source, 'request', 'bool')).to.throw(ExpressionError, message);
    });
  }

  it('is refused when the library throws without a place', () => {
    expect(checkCel('[].all(e, e > 0)', 'request', 'bool')).to.match(/^cel: /);
  });

  it('is told which result is wanted only where a condition stands', () => {
    expect(checkCel('claims.sub', 'claims', 'any')).to.equal(undefined);
    expect(checkCel('now', 'claims', 'bool')).to.equal('cel: must be a bool, is int at line 1, column 1');
  });

  it('may leave the type open until it runs', () => {
    expect(checkCel('claims.admin', 'claims', 'bool')).to.equal(undefined);
  });
});
