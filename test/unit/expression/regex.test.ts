import { expect } from 'chai';
import { checkRegex, compileRegex, compileRegexSet, quoteRegex } from '../../../src/expression/regex.ts';
import { compileSubstitution } from '../../../src/expression/substitution.ts';
import { leastCpuMs } from '../../support/cpu-time.ts';

describe('a regex', () => {
  const accepted: readonly (readonly [pattern: string, matches: string, not: string])[] = [
    ['(?P<x>a)b', 'ab', 'b'],
    ['(?<x>a)b', 'ab', 'b'],
    ['(?i)abc', 'xABCx', 'ab'],
    ['(?s)a.b', 'a\nb', 'ab'],
    ['a.b', 'a b', 'a\nb'],
    ['(?m)^b$', 'a\nb', 'ab'],
    ['\\Aa\\z', 'a', 'a\n'],
    ['\\Qa.b\\E', 'a.b', 'axb'],
    ['^[[:alpha:]]+$', 'abc', 'a1'],
    ['^\\pL$', 'é', '1'],
    ['^\\x{41}$', 'A', 'x'],
    ['^a.b$', 'a\rb', 'a\nb'],
    ['^.$', '\u2028', ''],
    ['^\\s$', ' ', '\u00a0'],
    ['^.$', '😀', '😀😀'],
    ['^\\-]}$', '-]}', '-'],
    ['^(?U)a+', 'aa', 'b'],
    ['a{1000}', 'a'.repeat(1000), 'a'.repeat(999)],
  ];
  for (const [pattern, matches, not] of accepted) {
    it(`has RE2's meaning: ${pattern.slice(0, 20)}`, () => {
      expect(compileRegex(pattern).test(matches)).to.equal(true);
      expect(compileRegex(pattern).test(not)).to.equal(false);
    });
  }

  for (const [pattern, message] of [
    ['(?=a)', 'regex: invalid or unsupported Perl syntax: (?='],
    ['(?<=a)b', 'regex: invalid named capture: (?<=a)b'],
    ['(a)\\1', 'regex: invalid escape sequence: \\1'],
    ['[b', 'regex: missing closing ]: [b'],
    ['(a', 'regex: missing closing ): (a'],
    ['a)(b', 'regex: unexpected ): a)(b'],
    ['a{1001}', 'regex: invalid repeat count: {1001}'],
    ['(?:a{100}){11}', 'regex: invalid repeat count: {11}'],
    ['\\C', 'regex: invalid escape sequence: \\C'],
    [`${'('.repeat(1500)}a${')'.repeat(1500)}`, 'regex: expression nests too deeply'],
    ['a'.repeat(4097), 'regex: longer than 4096 characters'],
    ['(?i)(x{0,900}y?)'.repeat(250), 'regex: larger than 10000 with its repetitions written out'],
  ] as const) {
    it(`is refused with a reason: ${pattern.slice(0, 20)}`, () => {
      expect(checkRegex(pattern)).to.satisfy((text?: string) => text?.startsWith(message), checkRegex(pattern));
    });
  }

  it('is one object per text while a reference to it exists', () => {
    const regex = compileRegex('/shared/[0-9]+');
    expect(compileRegex('/shared/[0-9]+')).to.equal(regex);
  });

  it('tells how long the match at the start is', () => {
    expect(compileRegex('/a(?:b|bc)').matchedAtStart('/abcd')).to.equal(3);
    expect(compileRegex('/a').matchedAtStart('x/a')).to.equal(-1);
  });

  for (const pattern of ['^(a+)+$', '^(?:a|a)*$', '^(.*a){12}$', '(x+x+)+y', '(a+)+$', '^(?:a|b)*a(?:a|b){12}$']) {
    it(`takes linear time on hostile input: ${pattern}`, () => {
      const regex = compileRegex(pattern);
      for (const letter of ['a', 'x']) {
        const text = `${letter.repeat(50_000)}!`;
        expect(
          leastCpuMs(() => regex.test(text)),
          letter,
        ).to.be.below(50);
      }
    });
  }
});

describe('a regex set', () => {
  it('names every pattern that matches at the start', () => {
    const set = compileRegexSet(['(?:/a|/b)', '/a/[0-9]+$', 'a']);
    expect([...set.match('/a/7')].sort()).to.deep.equal([0, 1]);
    expect([...set.match('/x/a')]).to.deep.equal([]);
  });

  it('quotes literals', () => {
    const set = compileRegexSet([quoteRegex('/a.b(c')]);
    expect([...set.match('/a.b(cd')]).to.deep.equal([0]);
    expect([...set.match('/axb(c')]).to.deep.equal([]);
  });
});

describe('a substitution', () => {
  for (const [pattern, text, input, expected] of [
    ['/users/([0-9]+)/orders/([0-9]+)', '/v2/orders/\\2?user=\\1', '/users/4/orders/9', '/v2/orders/9?user=4'],
    ['^/api/v2(.*)', '/internal$1', '/api/v2/orders', '/internal/orders'],
    ['^/api/(v[0-9]+)(/.*)', '\\2', '/api/v7/a/b', '/a/b'],
    ['(?P<name>[a-z]+)', `<$\{name}>`, 'ab-cd', '<ab>-<cd>'],
    ['(?P<name>[a-z]+)', '<$name>', 'ab', '<ab>'],
    ['(a)', '$1x', 'a', ''],
    ['(a)', `$\{1}x`, 'a', 'ax'],
    ['(a)', '$$1\\\\1\\0', 'a', '$1\\1a'],
    ['(a)|(b)', '[\\2]', 'ab', '[][b]'],
    ['a', `\\9$7$\{nope}`, 'a', ''],
    ['a', '\\n$', 'a', '\\n$'],
    ['a', '$& $` $<x>', 'a', '$& $` $<x>'],
    ['constructor', '$constructor', 'constructor', ''],
    // What matches everything matches once, not once more at its end.
    ['.*', '/index.html', '/a/b', '/index.html'],
    ['(.*)', '/new$1', '/a', '/new/a'],
    ['[a-z]*', 'X', '/ab/cd', 'X/X/X'],
    ['', '-', '/ab', '-/-a-b-'],
    ['$', '/end', '/ab', '/ab/end'],
  ] as const) {
    it(`turns ${input} into ${expected || 'nothing'} by ${pattern} and ${text}`, () => {
      const regex = compileRegex(pattern);
      expect(regex.replaceAll(input, compileSubstitution(text, regex))).to.equal(expected);
    });
  }
});
