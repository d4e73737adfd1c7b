import { expect } from 'chai';
import fc from 'fast-check';
import { TraceIds } from '../../../../src/telemetry/traces/trace-ids.ts';
import { seededRandom } from '../../../support/random.ts';

function filler(seed: number): (bytes: Buffer) => void {
  const next = seededRandom(seed);
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(next() * 256);
  };
}

describe('ids of traces', () => {
  it('are hexadecimal, never all zero, and do not repeat', () => {
    let calls = 0;
    const fill = (bytes: Buffer): void => {
      if (calls++ === 0) bytes.fill(0);
      else filler(calls)(bytes);
    };
    const ids = new TraceIds(1, fill);
    const seen = new Set<string>();
    for (let i = 0; i < 1_000; i++) {
      const [trace, span] = [ids.traceId(), ids.spanId()];
      expect(trace).to.match(/^(?!0+$)[0-9a-f]{32}$/);
      expect(span).to.match(/^(?!0+$)[0-9a-f]{16}$/);
      seen.add(trace).add(span);
    }
    expect(seen.size).to.equal(2_000);
  });

  it('decide whether a trace is recorded, everywhere alike: a larger share holds all of a smaller one', () => {
    const hex = fc.stringMatching(/^[0-9a-f]{32}$/);
    const ratio = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(hex, ratio, ratio, (id, a, b) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((share) => new TraceIds(share, () => {}));
        // The slow way: the last 56 bits as a number.
        const isSampled = BigInt(`0x${id.slice(18)}`) >= BigInt(Math.ceil((1 - Math.min(a, b)) * 2 ** 32)) << 24n;
        expect(less?.isSampled(id)).to.equal(isSampled);
        if (less?.isSampled(id)) expect(more?.isSampled(id)).to.equal(true);
      }),
    );
  });

  it('all at 1, none at 0, and about as many as asked for in between', () => {
    const count = (ratio: number): number => {
      const ids = new TraceIds(ratio, filler(7));
      return Array.from({ length: 10_000 }, () => ids.isSampled(ids.traceId())).filter(Boolean).length;
    };
    expect(count(1)).to.equal(10_000);
    expect(count(0)).to.equal(0);
    expect(count(0.05)).to.be.within(400, 600);
  });
});
