import { expect } from 'chai';
import { compileCel } from '../../../../src/expression/cel/compiled-program.ts';
import { type RequestFacts, RequestView } from '../../../../src/expression/cel/value-view.ts';

describe('long header values in expressions', () => {
  it('are read as text once, for any number of expressions, until a middleware changes a field', () => {
    const headers = new Map([['x-long', 'k'.repeat(100_000)]]);
    const facts = { header: (name: string) => headers.get(name), headers: () => headers } as unknown as RequestFacts;
    let read = 0;
    const view = new RequestView(facts, (value) => {
      read++;
      return value;
    });
    const ask = (): void => {
      for (let at = 0; at < 100; at++) {
        const source = `"x-long" in request.headers && request.headers["x-long"].endsWith("k${at}")`;
        expect(compileCel(source, 'request', 'bool').decide(view)).to.equal(false);
      }
    };
    ask();
    expect(read).to.equal(1);
    headers.set('x-long', `${'k'.repeat(100_000)}7`);
    view.forgetHeaders();
    const seventh = compileCel('request.headers["x-long"].endsWith("k7")', 'request', 'bool');
    expect(seventh.decide(view)).to.equal(true);
    expect(read).to.equal(2);
    headers.set('x-long', 'k'.repeat(100_000));
    view.reset(facts);
    ask();
    expect(read).to.equal(3);
  });
});
