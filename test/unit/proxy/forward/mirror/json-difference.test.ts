// Structural comparison of JSON bodies.
import { expect } from 'chai';
import { jsonDifference, parsedJson, patternOf } from '../../../../../src/proxy/forward/mirror/json-difference.ts';

const difference = (primary: string, mirror: string, ignore: readonly string[] = []) =>
  jsonDifference(parsedJson(primary)?.value, parsedJson(mirror)?.value, ignore.map(patternOf));

describe('the difference of two JSON bodies', () => {
  it('does not see the order of members, blanks or spellings of numbers', () => {
    expect(difference('{"a":1,"b":[1,2]}', '{ "b": [1.0, 2], "a": 1e0 }')).to.equal(undefined);
  });

  it('names the first member or element that differs, is missing or is added', () => {
    expect(difference('{"a":{"b":[1,2]}}', '{"a":{"b":[1,3]}}')).to.deep.equal({
      ...{ pointer: '/a/b/1', primary: '2', mirror: '3' },
    });
    expect(difference('[1]', '[1,null]')).to.deep.equal({ pointer: '/1', primary: undefined, mirror: 'null' });
    expect(difference('{"a/b~":1}', '{}')).to.deep.equal({ pointer: '/a~1b~0', primary: '1', mirror: undefined });
    expect(difference('{"a":[]}', '{"a":{}}')).to.deep.equal({ pointer: '/a', primary: '[]', mirror: '{}' });
    expect(difference('1', '2')).to.deep.equal({ pointer: '', primary: '1', mirror: '2' });
  });

  it('passes over ignored pointers, a star for any name or index, and masks them in what it shows', () => {
    const ignore = ['/updatedAt', '/items/*/id'];
    const text = (id: number, at: string, price: number): string =>
      JSON.stringify({ updatedAt: at, items: [{ id, price }] });
    expect(difference(text(1, 'a', 5), text(2, 'b', 5), ignore)).to.equal(undefined);
    expect(difference(text(1, 'a', 5), text(2, 'b', 6), ignore)?.pointer).to.equal('/items/0/price');
    expect(difference('{"items":[{"id":7,"price":1}]}', '{"items":{}}', ignore)?.primary).to.equal(
      '[{"id":"[ignored]","price":1}]',
    );
  });

  it('tells integers apart that a double does not', () => {
    expect(difference('{"id":9007199254740993}', '{"id":9007199254740992}')).to.deep.equal({
      ...{ pointer: '/id', primary: '"9007199254740993"', mirror: '"9007199254740992"' },
    });
    expect(difference('{"id":9007199254740993}', '{"id":9007199254740993}')).to.equal(undefined);
    const others =
      '"9007199254740993",0.12345678901234567,1.2345678901234567e10,1e-1234567890123456,"\\"12345678901234567"';
    expect(difference(`[${others},1]`, `[${others},2]`)?.pointer).to.equal('/5');
    expect(difference('["9007199254740993"]', '[9007199254740993]')?.pointer).to.equal('/0');
  });

  it('gives up at once on a long text that is no JSON: its quotes are looked at once', () => {
    const escapedQuotes = `[12345678901234567, ${'\\"'.repeat(400_000)}`;
    const openString = `[12345678901234567, "${'a\\\\'.repeat(300_000)}`;
    // Where each quote costs a look at the rest of the text, this takes minutes and not milliseconds.
    const texts = [escapedQuotes, openString, `${openString}\\`];
    expect(texts.map(parsedJson)).to.deep.equal([undefined, undefined, undefined]);
  });

  it('reads no names of the elements of a list, which may be many', () => {
    const named: unknown[] = [];
    const watched = (list: unknown[]): unknown[] =>
      new Proxy(list, {
        ownKeys(target) {
          named.push('list');
          return Reflect.ownKeys(target);
        },
      });
    const ones = new Array<number>(1_000).fill(1);
    expect(jsonDifference(watched([...ones, 1]), watched([...ones, 2]), [])?.pointer).to.equal('/1000');
    expect(named).to.deep.equal([]);
  });

  it('does not end a process over nesting', () => {
    const deep = (inner: string): string => '['.repeat(20_000) + inner + ']'.repeat(20_000);
    expect(() => difference(deep('1'), deep('2'))).not.to.throw();
  });
});
