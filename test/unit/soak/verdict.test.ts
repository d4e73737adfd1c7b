import { expect } from 'chai';
import { growths, type Sample } from '../../soak/verdict.ts';

describe('the verdict of a soak', () => {
  const mebibyte = 1 << 20;
  /** One sample every five seconds of ten minutes. */
  const run = (sample: (at: number) => Partial<Sample>): Sample[] =>
    Array.from({ length: 120 }, (_, i) => {
      const at = (i + 1) / 120;
      return { at, rss: 200 * mebibyte, descriptors: 100, handles: 100, ...sample(at) };
    });
  const grown = (samples: readonly Sample[]) =>
    growths(samples)
      .filter(({ late, bound }) => late > bound)
      .map(({ what }) => what);

  it('passes what is flat, with peaks and with a high start', () => {
    const peaks = run((at) => ({
      rss: (at < 0.1 ? 300 : 200) * mebibyte,
      handles: Math.round(at * 120) % 10 === 0 ? 900 : 100,
    }));
    expect(grown(peaks)).to.deep.equal([]);
  });

  it('finds memory that grows by more than a tenth', () => {
    expect(grown(run((at) => ({ rss: (200 + 30 * at) * mebibyte })))).to.deep.equal([]);
    expect(grown(run((at) => ({ rss: (200 + 40 * at) * mebibyte })))).to.deep.equal(['RSS']);
  });

  it('finds one connection kept of a thousand', () => {
    const kept = (at: number): number => 100 + Math.round(100 * at);
    expect(grown(run((at) => ({ descriptors: kept(at), handles: kept(at) })))).to.deep.equal([
      'open files',
      'active handles',
    ]);
  });

  it('refuses to judge a run without samples of its beginning or its end', () => {
    expect(() => growths(run(() => ({})).slice(0, 60))).to.throw('too short');
  });
});
