// Pending bytes of streams: each stream keeps its own while buffers are acquired and released in between.
import { expect } from 'chai';
import fc from 'fast-check';
import { PendingBytes } from '../../../../src/proxy/http2/pending-bytes.ts';

describe('pending bytes of a stream', () => {
  it('are those that were appended, for each of many streams in any order', () => {
    const step = fc.record({
      stream: fc.nat(3),
      length: fc.oneof(fc.nat(2_000), fc.integer({ min: 15_000, max: 100_000 })),
      letter: fc.integer({ min: 97, max: 122 }),
      clear: fc.nat(3).map((n) => n === 0),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const streams = Array.from({ length: 4 }, () => ({ pending: new PendingBytes(), wanted: '' }));
        for (const { stream, length, letter, clear } of steps) {
          const one = streams[stream]!;
          if (clear) {
            one.pending.clear();
            one.wanted = '';
          } else {
            one.pending.append(Buffer.alloc(length + 2, letter), 1, length + 1);
            one.wanted += String.fromCharCode(letter).repeat(length);
          }
        }
        for (const { pending, wanted } of streams)
          expect(pending.bytes.toString('latin1', 0, pending.length) === wanted).to.equal(true);
        for (const { pending } of streams) pending.clear();
      }),
      { numRuns: 50 },
    );
  });

  it('that are many use pooled buffers', () => {
    const pending = new PendingBytes();
    const seen = new Set<ArrayBufferLike>();
    for (let i = 0; i < 10; i++) {
      pending.append(Buffer.alloc(65_536), 0, 65_536);
      seen.add(pending.bytes.buffer);
      pending.clear();
    }
    expect(seen.size).to.equal(1);
  });

  it('that are few take no more than twice their size', () => {
    const pending = new PendingBytes();
    pending.append(Buffer.alloc(1_000), 0, 1_000);
    expect(pending.bytes.length).to.equal(2_000);
  });
});
