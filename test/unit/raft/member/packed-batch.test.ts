import { expect } from 'chai';
import fc from 'fast-check';
import type { CommandEntry } from '../../../../raft/core/types.ts';
import { packBatch, unpackBatch } from '../../../../raft/member/packed-batch.ts';

const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const entry = fc.record<CommandEntry>({
  kind: fc.constant('command'),
  index: number,
  term: number,
  time: number,
  payload: fc.uint8Array({ maxLength: 50 }),
});

describe('a packed batch', () => {
  it('comes out as it went in', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const batch = { first: 3, last: 9, term: 2, logTime: 1, bytes: 7, entries };
        expect(unpackBatch(structuredClone(packBatch(batch)))).to.deep.equal(batch);
      }),
    );
  });
});
