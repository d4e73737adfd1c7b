import { expect } from 'chai';
import fc from 'fast-check';
import * as scalars from '../../../src/model/scalar.ts';

const texts = Object.entries(scalars).filter(
  (entry): entry is [string, scalars.TextScalar] =>
    typeof entry[1] === 'object' && 'json' in entry[1] && entry[1].json === 'string',
);

/** Beyond these a text may be right and not fit; what fits is right. */
const usual: Readonly<Record<string, readonly string[]>> = {
  duration: ['0', '500ms', '1.5s', '1h30m', '.5s', '100us', '3µs', '3μs', '10m', '72h'],
  host: ['localhost', 'a.b.c.example.com', 'under_score', '10.0.0.1', '::1', '[::1]', 'fe80::1:2', '::', 'x.'],
  authority: ['localhost', 'localhost:80', '10.0.0.1:65535', '[::1]:8080', '::1', '[::1]'],
  hostPattern: ['*', '*.example.com', 'example.com', '10.0.0.1', '[::1]', '2001:db8::8:800:200c:417a'],
  cidr: ['10.0.0.0/8', '10.0.0.1', '::1', 'fd00::/8', '::/0', '0.0.0.0/0', '1:2:3:4:5:6:7:8/128'],
  absolutePath: ['/', '/a/b', '/ü', '/%41'],
  target: ['/', '/a/b?c=d', '/ü?日', '/%C3%BC', '/a?b?c'],
  pathLiteral: ['/', 'products', '/a b', '/ü', '/%2F'],
  pathAndQuery: ['/', 'in', '/a b?c=d', '/ü?日'],
  location: [
    'https://a.test',
    'https://a.test:81/b?c#/d',
    '//a.test/',
    '//',
    '/',
    '/a//ü',
    '/a',
    '/?a',
    '?a',
    '#a',
    '/ü#日',
  ],
  statusRange: ['200', '200-299'],
};

const wrong: Readonly<Record<string, readonly string[]>> = {
  duration: ['', '5', '1d', '1e3s', '5 s', '1.s', '-5s'],
  host: ['', 'http://a', 'a:80', '999.1.1.1', '1.2.3.4.5', ':::', '[a]', '-a', 'a..b'],
  authority: ['', 'a:0', 'a:65536', 'a:', ':80'],
  hostPattern: ['', '**', 'a.*', '*.', '*.1'],
  cidr: ['', '10.0.0.0/33', 'a', '::/129', '10.0.0.0/', '10.0.0.0/08', '01.0.0.0'],
  statusRange: ['2xx', '600', '200-', '99'],
  absolutePath: ['', 'a', '/a b', '/a?b', '/a#b', '/%00', '/%zz', '/%', '/\ud800'],
  target: ['', 'a', '/a b', '/a#b', '/%00', '/%zz', '/a?b%', '/a\n', '/\udc00'],
  pathLiteral: ['', '/a?b', '/a#b', '/%00', '/\0', '/\ud800'],
  pathAndQuery: ['', '/a#b', '/a?b#c', '/%00', '/a\n', '/\ud800'],
  location: [
    '',
    '//\x80',
    '// ',
    '///\ud800',
    'https://a b.test/',
    'https://a.test/\n',
    '/\ud800',
    'https://\u2100.test\u2044/',
  ],
};

describe('patterns of the document', () => {
  for (const [name, scalar] of texts) {
    const { pattern } = scalar.schema;
    if (pattern === undefined) continue;
    it(`admit nothing that the check of ${name} refuses`, () => {
      fc.assert(
        fc.property(fc.stringMatching(new RegExp(pattern)), (text) => {
          // In order they are, in the pattern they need not be.
          if (/statusRange$/i.test(name) && text.includes('-')) return;
          // The pattern admits dot segments and NUL, which the check refuses.
          if (name === 'bodyPath' && /\0|(^|\/)\.\.?(\/|$)/.test(text)) return;
          // No pattern bounds a duration.
          const checked = name === 'limitPeriod' ? scalars.duration : scalar;
          expect(scalars.scalarProblemOf(checked, text), JSON.stringify(text)).to.equal(undefined);
        }),
        { numRuns: 100 },
      );
    });
  }

  for (const [name, scalar] of texts) {
    const pattern = new RegExp(scalar.schema.pattern ?? '', 'u');
    for (const text of usual[name] ?? [])
      it(`admit ${JSON.stringify(text)} as ${name}`, () => {
        expect(text).to.match(pattern);
        expect(scalars.scalarProblemOf(scalar, text)).to.equal(undefined);
      });
    for (const text of wrong[name] ?? [])
      it(`refuse ${JSON.stringify(text)} as ${name}`, () => {
        expect(text).to.not.match(pattern);
        expect(scalars.scalarProblemOf(scalar, text)).to.be.a('string');
      });
  }

  it('admit secret references where they are resolved before the text is judged', () => {
    expect('{{secret:env:TIMEOUT}}').to.match(new RegExp(scalars.duration.schema.pattern ?? '', 'u'));
    expect('{{secret:env:ID}}').to.not.match(new RegExp(scalars.id.schema.pattern ?? '', 'u'));
  });
});
