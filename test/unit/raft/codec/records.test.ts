import { expect } from 'chai';
import fc from 'fast-check';

import { decodeEntryRecord, encodeEntryRecord, encodingEntryRecord } from '../../../../raft/codec/records.ts';
import type { Entry } from '../../../../raft/core/types.ts';

const mebibyte = 1024 * 1024;

describe('the record of an entry', () => {
  it('is the same whether it is written at once or in steps', () => {
    const payload = fc
      .tuple(fc.constantFrom(0, 1, 64 * 1024, mebibyte, 2 * mebibyte), fc.integer({ min: 0, max: 70 }), fc.nat(255))
      .map(([bytes, more, fill]) => new Uint8Array(bytes + more).fill(fill));
    fc.assert(
      fc.property(payload, fc.nat(), fc.nat(), fc.nat(), (bytes, index, time, previous) => {
        const entry: Entry = { kind: 'command', index, term: 3, time, payload: bytes };
        const writing = encodingEntryRecord(entry, previous);
        let steps = 1;
        let step = writing.next();
        for (; !step.done; step = writing.next()) steps += 1;
        const atOnce = encodeEntryRecord(entry, previous);
        expect(step.value.chain).to.equal(atOnce.chain);
        expect(step.value.value.equals(atOnce.value)).to.equal(true);
        expect(step.value.value.buffer.byteLength, 'memory of its own').to.equal(atOnce.value.length);
        expect(steps).to.equal(1 + Math.floor(bytes.length / mebibyte));
        expect(decodeEntryRecord(step.value.value)).to.deep.equal({ entry, chain: atOnce.chain });
      }),
      { numRuns: 40 },
    );
  });
});
