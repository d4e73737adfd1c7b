import { expect } from 'chai';
import fc from 'fast-check';
import { TraceIds } from '../../../../src/telemetry/traces/trace-ids.ts';
import { parseTraceParent, traceParentIn } from '../../../../src/telemetry/traces/trace-parent.ts';
import { seededRandom } from '../../../support/random.ts';

function filler(seed: number): (bytes: Buffer) => void {
  const next = seededRandom(seed);
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(next() * 256);
  };
}

const parsed = (line: string) => parseTraceParent(traceParentIn(line)) ?? expect.fail(line);

describe('ids of traces', () => {
  it('are hexadecimal, never all zero, and do not repeat', () => {
    const zeros = new TraceIds(1, (bytes) => bytes.fill(0));
    expect(zeros.newTrace()).to.equal(`traceparent: 00-${'1'.padEnd(32, '0')}-${'1'.padEnd(16, '0')}-01\r\n`);
    const ids = new TraceIds(1, filler(7));
    const seen = new Set<string>();
    for (let i = 0; i < 1_000; i++) {
      const { traceId, parentId } = parsed(ids.newTrace());
      const span = ids.spanId();
      expect(span).to.match(/^(?!0+$)[0-9a-f]{16}$/);
      seen.add(traceId).add(parentId).add(span);
    }
    expect(seen.size).to.equal(3_000);
  });

  it('are the random bytes, and decide whether a trace is recorded by the last 56 bits', () => {
    const bytes = fc.uint8Array({ minLength: 24, maxLength: 24 });
    const ratio = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(bytes, ratio, (random, share) => {
        const ids = new TraceIds(share, (pool) => {
          for (let at = 0; at < pool.length; at += random.length) pool.set(random, at);
        });
        const text = Buffer.from(random).toString('hex');
        fc.pre(!/^0{31}|0{15}$/.test(text));
        // The slow way: those bits as a number, against a threshold of 32 of them.
        const least = BigInt(Math.ceil((1 - share) * 2 ** 32)) << 24n;
        const sampled = BigInt(`0x${text.slice(18, 32)}`) >= least;
        for (let i = 0; i < 70; i++) {
          const found = parsed(ids.newTrace());
          expect(found).to.deep.equal({ traceId: text.slice(0, 32), parentId: text.slice(32), sampled });
        }
      }),
      { numRuns: 30 },
    );
  });

  it('all at 1, none at 0, and about as many as asked for in between', () => {
    const count = (ratio: number): number => {
      const ids = new TraceIds(ratio, filler(7));
      return Array.from({ length: 10_000 }, () => parsed(ids.newTrace()).sampled).filter(Boolean).length;
    };
    expect(count(1)).to.equal(10_000);
    expect(count(0)).to.equal(0);
    expect(count(0.05)).to.be.within(400, 600);
  });
});
