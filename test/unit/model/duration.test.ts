import { expect } from 'chai';
import fc from 'fast-check';
import { parseDuration } from '../../../src/model/duration.ts';
import { cpuMs } from '../../support/cpu-time.ts';

describe('durations (contract.md §0.3)', () => {
  const valid: readonly [text: string, milliseconds: number][] = [
    ['0', 0],
    ['0s', 0],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['.5s', 500],
    ['100ms', 100],
    ['250us', 0.25],
    ['250\u00b5s', 0.25],
    ['250\u03bcs', 0.25],
    ['1500000ns', 1.5],
    ['+2s', 2000],
    ['1m1m', 120_000],
    ['-3s', -3000],
  ];
  for (const [text, milliseconds] of valid) {
    it(`reads ${text} as ${milliseconds} ms`, () => expect(parseDuration(text)).to.be.closeTo(milliseconds, 1e-9));
  }

  const invalid = [
    '',
    '5',
    '1d',
    '1e3s',
    '5 s',
    ' 5s',
    '5s ',
    '1.s',
    '.s',
    's',
    '-',
    '+',
    '1h-3m',
    '00',
    '٣s',
    '1S',
    '0x1s',
  ];
  for (const text of invalid) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parseDuration(text)).to.equal(undefined));
  }

  it('refuses what 64 bits of nanoseconds do not hold', () => {
    expect(parseDuration('2562047h')).to.be.a('number');
    expect(parseDuration('2562048h')).to.equal(undefined);
    expect(parseDuration(`${'9'.repeat(400)}s`)).to.equal(undefined);
  });

  it('takes linear time on a long text', () => {
    const text = `${'1'.repeat(1_000_000)}x`;
    expect(cpuMs(() => expect(parseDuration(text)).to.equal(undefined))).to.be.below(1000);
  });

  it('adds its terms up', () => {
    const terms = fc.array(fc.tuple(fc.nat(999), fc.constantFrom('ms', 's', 'm', 'h')), { minLength: 1, maxLength: 5 });
    const each = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
    fc.assert(
      fc.property(terms, (list) => {
        const sum = list.reduce((total, [amount, unit]) => total + amount * each[unit as keyof typeof each], 0);
        expect(parseDuration(list.flat().join(''))).to.equal(sum);
      }),
    );
  });
});
