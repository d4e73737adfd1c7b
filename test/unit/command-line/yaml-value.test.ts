import { expect } from 'chai';
import fc from 'fast-check';
import { parseAllDocuments, stringify } from 'yaml';
import { noVariables } from '../../../src/command-line/input/variables.ts';
import { plainValue } from '../../../src/command-line/input/yaml-lines.ts';
import { type TextFault, yamlValues } from '../../../src/command-line/input/yaml-value.ts';

const same = (text: string): string => text;

function read(text: string): { readonly values: unknown[]; readonly faults: TextFault[] } {
  const faults: TextFault[] = [];
  const values = yamlValues(text, noVariables, (fault) => faults.push(fault)).map(({ value }) => value);
  return { values, faults };
}

/** Value by the library; undefined where it refuses it, or where a key is given twice. */
function byLibrary(text: string): unknown {
  const documents = parseAllDocuments(text, { logLevel: 'silent', stringKeys: true });
  const [first] = documents;
  return documents.length === 1 && first?.errors.length === 0 ? first.toJS() : undefined;
}

const scalar = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'a b',
    '1',
    '-1',
    '1.5',
    'true',
    'null',
    '~',
    'a: b',
    'a #b',
    '#a',
    '- a',
    '"',
    "'",
    '*a',
    '&a',
    '!a',
    '0x1',
    '1e3',
    '.5',
    ':80',
    'a:',
    '{a}',
    '[',
    '@',
    '|',
    '>-',
    '%',
    '\\',
    'é',
    '\t',
    'a\nb',
    'yes',
    '2026-01-01',
    '$x',
  ),
  fc.integer({ min: -1000, max: 100_000 }),
  fc.boolean(),
  fc.constant(null),
  fc.string({ maxLength: 12 }),
);
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('name', 'a', 'b-c', 'match', '1', 'x y', 'é', '"q"'), tie('value'), { maxKeys: 4 }),
  ),
}));

describe('YAML of input files', () => {
  it('is read as it was written, however the library writes it', () => {
    const style = fc.record({
      collectionStyle: fc.constantFrom<'any' | 'flow'>('any', 'flow'),
      defaultStringType: fc.constantFrom<'PLAIN' | 'QUOTE_SINGLE' | 'QUOTE_DOUBLE'>(
        'PLAIN',
        'QUOTE_SINGLE',
        'QUOTE_DOUBLE',
      ),
      indentSeq: fc.boolean(),
      lineWidth: fc.constantFrom(0, 20, 80),
    });
    fc.assert(
      fc.property(fc.record({ routes: fc.array(json, { maxLength: 5 }), owner: json }), style, (value, options) => {
        const text = stringify(value, { ...options, aliasDuplicateObjects: false });
        const { values, faults } = read(text);
        expect(faults, text).to.deep.equal([]);
        expect(values, text).to.deep.equal([byLibrary(text)]);
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  it('is read by the plain reader as by the library, or left to it', () => {
    const edit = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 3 }),
      insert: fc.constantFrom(
        '',
        ' ',
        '\n',
        ':',
        '- ',
        '#',
        ' #',
        '"',
        "'",
        '{',
        ']',
        ',',
        '&a',
        '*a',
        '|',
        '\n ',
        '\n  b: 1',
        '? ',
        '!',
        '-',
        '.',
        'e',
      ),
    });
    fc.assert(
      fc.property(json, fc.array(edit, { maxLength: 3 }), fc.boolean(), (value, edits, flow) => {
        let text = stringify(value, {
          collectionStyle: flow ? 'flow' : 'block',
          aliasDuplicateObjects: false,
          lineWidth: 0,
        });
        for (const { at, remove, insert } of edits) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + insert + text.slice(place + remove);
        }
        const plain = plainValue(text, same);
        if (plain !== undefined) expect(plain, JSON.stringify(text)).to.deep.equal(byLibrary(text));
      }),
      { numRuns: 2000, seed: 7 },
    );
  });

  it('has places of faults in elements of long lists', () => {
    const text = `routes:\n${'- name: a\n  match: { path: /x }\n'.repeat(50)}- name: b\n  name: c\n`;
    const { faults } = read(text);
    expect(faults).to.deep.equal([{ at: text.indexOf('name: c'), message: 'the key "name" is given twice' }]);
  });

  const laughs = (levels: number) =>
    `a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: levels }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(', ')}]`).join('\n')}\n`;

  const refused: readonly (readonly [name: string, text: string, at: (text: string) => number, message: RegExp])[] = [
    ['a tab that indents', 'routes:\n\t- name: a\n', (text) => text.indexOf('\t'), /tab/],
    [
      'a key that is given twice at the top',
      'routes: []\nroutes: []\n',
      (text) => text.lastIndexOf('routes'),
      /given twice/,
    ],
    ['a line of a megabyte', `routes:\n- name: ${'x'.repeat(1_000_000)}\n`, () => 8, /262144 characters/],
    [
      'aliases that stand for a billion values',
      laughs(9),
      (text) => text.indexOf('*'),
      /aliases stand for more than 100000 values/,
    ],
    ['flow collections without an end', `a: ${'['.repeat(100_000)}`, () => 0, /nested deeper|flow/i],
    [
      'block collections that are too deep',
      `${Array.from({ length: 200 }, (_, n) => `${' '.repeat(n)}a:`).join('\n')} 1\n`,
      (text) => text.indexOf(`${' '.repeat(64)}a:`),
      /nested deeper/,
    ],
  ];
  for (const [name, text, , message] of refused)
    it(`with ${name} is refused, at its place and soon`, () => {
      const { faults } = read(text);
      expect(faults).to.have.length.above(0);
      expect(faults[0]?.message).to.match(message);
    });

  it('with faults tells where each is', () => {
    for (const [name, text, at] of refused.slice(0, 3)) expect(read(text).faults[0]?.at, name).to.equal(at(text));
  });
});
