// Body buffer of copies: the pushed bytes, in order, in memory that is bounded and released.
import { expect } from 'chai';
import fc from 'fast-check';
import { allWaitingBytes, BodyBuffer, waitingBytesMax } from '../../../../../src/proxy/forward/mirror/body-buffer.ts';

describe('pending bytes of a copy', () => {
  const before = allWaitingBytes();

  it('are the pushed and not yet delivered ones, beside those of other copies', () => {
    const step = fc.record({
      copy: fc.nat(2),
      length: fc.oneof(fc.nat(50), fc.nat(5_000), fc.integer({ min: 15_000, max: 200_000 })),
      does: fc.constantFrom('push', 'push', 'push', 'give', 'clear'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const copies = Array.from({ length: 3 }, () => ({ waiting: new BodyBuffer(), wanted: '' }));
        let letter = 0;
        for (const { copy, length, does } of steps) {
          const one = copies[copy]!;
          const text = String.fromCharCode(97 + (letter++ % 26)).repeat(length);
          if (does === 'clear') {
            one.waiting.clear();
            one.wanted = '';
          } else if (does === 'give') {
            one.waiting.deliver({
              data: (chunk) => {
                expect(one.wanted.startsWith(chunk.toString())).to.equal(true);
                one.wanted = one.wanted.slice(chunk.length);
                return true;
              },
            });
          } else if (one.waiting.push(Buffer.from(text))) one.wanted += text;
          else {
            expect(one.wanted.length + length).to.be.greaterThan(waitingBytesMax / 2);
            one.waiting.clear();
            one.wanted = '';
          }
          expect(one.waiting.empty).to.equal(one.wanted === '');
          expect(one.waiting.bytes).to.be.within(one.wanted.length, waitingBytesMax);
          expect(allWaitingBytes()).to.equal(copies.reduce((sum, { waiting }) => sum + waiting.bytes, before));
        }
        for (const { waiting } of copies) waiting.clear();
        expect(allWaitingBytes()).to.equal(before);
      }),
      { numRuns: 100 },
    );
  });

  it('are no more than 64 MiB of all copies, also for single bytes', () => {
    const copies = Array.from({ length: 100 }, () => new BodyBuffer());
    const chunk = Buffer.alloc(65_536);
    for (const copy of copies) while (copy.push(chunk)) expect(copy.bytes).to.be.at.most(waitingBytesMax);
    expect(allWaitingBytes()).to.be.within(60 << 20, 64 << 20);
    for (const copy of copies) copy.clear();
    const [slow = new BodyBuffer()] = copies;
    let parts = 0;
    for (let i = 0; i < 10_000; i++) slow.push(Buffer.of(i));
    while (!slow.empty) {
      slow.deliver({ data: () => true });
      parts++;
    }
    expect(parts).to.equal(5);
    expect(allWaitingBytes()).to.equal(before);
  });
});
