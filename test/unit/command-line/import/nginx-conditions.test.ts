// Conditions of nginx as expressions: a variable of a field that a request does not have is an empty text.
import { expect } from 'chai';
import { conditionMatch } from '../../../../src/command-line/import/nginx/if-conditions.ts';
import { compileCel } from '../../../../src/expression/cel/compiled-program.ts';
import { type RequestFacts, RequestView } from '../../../../src/expression/cel/value-view.ts';

/** Returns what the condition says of requests without the field, with an empty one, and with `a`. */
function decided(condition: string): readonly unknown[] {
  const found = conditionMatch(condition);
  if (typeof found === 'string') throw new Error(found);
  const program = compileCel(String(found.match.cel), 'request', 'bool');
  return [undefined, '', 'a'].map((value) => {
    const headers = new Map(value === undefined ? [] : [['x-key', value]]);
    const facts = { header: (name: string) => headers.get(name), headers: () => headers } as unknown as RequestFacts;
    return program.decide(new RequestView(facts));
  });
}

describe('a condition of nginx', () => {
  for (const [condition, absent, empty, a] of [
    ['($http_x_key = "")', true, true, false],
    ['($http_x_key != "")', false, false, true],
    ['($http_x_key = a)', false, false, true],
    ['($http_x_key != a)', true, true, false],
    ['($http_x_key ~ ^$)', true, true, false],
    ['($http_x_key !~ ^a)', true, true, false],
    ['($http_x_key)', false, false, true],
  ] as const)
    it(`${condition} counts a field that is not there as an empty one`, () => {
      expect(decided(condition)).to.deep.equal([absent, empty, a]);
    });
});
