import { expect } from 'chai';
import fc from 'fast-check';
import {
  findReferences,
  leftovers,
  referencesIn,
  replaceReferences,
  type SecretReference,
} from '../../../src/model/secret-reference.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const byArgument = ({ argument }: SecretReference) => `<${argument}>`;
const pattern = /\{\{secret:(value|env|file):([^}]+)\}\}/g;

describe('secret references (contract.md §2.9)', () => {
  it('finds any number in one text, embedded or alone', () => {
    expect(referencesIn('a {{secret:env:A}}{{secret:file:/x y}} b {{secret:value:id-1}}')).to.deep.equal([
      { source: 'env', argument: 'A', text: '{{secret:env:A}}' },
      { source: 'file', argument: '/x y', text: '{{secret:file:/x y}}' },
      { source: 'value', argument: 'id-1', text: '{{secret:value:id-1}}' },
    ]);
  });

  it('reads every string value with its pointer, and no map key', () => {
    const entity = { a: { 'x/y': ['', '{{secret:env:A}}'] }, '{{secret:env:KEY}}': 'plain', n: 5, z: null };
    expect(findReferences(entity).map(({ pointer, argument }) => [pointer, argument])).to.deep.equal([
      ['/a/x~1y/1', 'A'],
    ]);
  });

  it('replaces what it finds and shares what it leaves', () => {
    const kept = { deep: ['same'] };
    const entity = { kept, token: 'Bearer {{secret:env:A}}.{{secret:value:b}}' };
    const replaced = replaceReferences(entity, byArgument);
    expect(replaced).to.deep.equal({ kept, token: 'Bearer <A>.<b>' });
    expect(replaced).to.have.property('kept', kept);
    expect(replaceReferences(kept, byArgument)).to.equal(kept);
  });

  it('does not read what it put in', () => {
    const once = replaceReferences('{{secret:env:A}}', () => '{{secret:env:B}}');
    expect(once).to.equal('{{secret:env:B}}');
  });

  it('leaves a reference without a value as it is, and reports it', () => {
    const entity = { a: 'x {{secret:env:A}}', b: ['{{secret:vault:c}}', 'fine'], c: '{{secret:env:}}' };
    const replaced = replaceReferences(entity, () => undefined);
    expect(replaced).to.equal(entity);
    expect(leftovers(replaced)).to.deep.equal(['/a', '/b/0', '/c']);
  });

  it('keeps a key that names the prototype what it is', () => {
    const entity: unknown = JSON.parse('{"__proto__": {"a": "{{secret:env:A}}"}}');
    const replaced = replaceReferences(entity, byArgument);
    expect(JSON.stringify(replaced)).to.equal('{"__proto__":{"a":"<A>"}}');
  });

  it('finds exactly what the pattern of the contract finds', () => {
    const part = fc.constantFrom(
      '{{secret:',
      'value',
      'env',
      'file',
      ':',
      '}}',
      '}',
      '{',
      'x',
      ' ',
      '{{secret:env:A}}',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const text = parts.join('');
        const expected = [...text.matchAll(pattern)].map(([whole, source, argument]) => ({
          source,
          argument,
          text: whole,
        }));
        expect(referencesIn(text)).to.deep.equal(expected);
        expect(replaceReferences(text, () => '#')).to.equal(text.replaceAll(pattern, '#'));
      }),
      { numRuns: 2000 },
    );
  });

  for (const [name, text] of [
    ['openings without an end', '{{secret:value:'.repeat(200_000)],
    ['openings before one brace', `${'{{secret:value:'.repeat(200_000)}}`],
    ['openings of no source', `${'{{secret:'.repeat(300_000)}}}`],
  ] as const) {
    it(`takes linear time on many ${name}`, () => {
      expect(cpuMs(() => referencesIn(text))).to.be.below(2000);
    });
  }
});
