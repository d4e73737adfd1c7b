import { expect } from 'chai';
import fc from 'fast-check';
import { newSharedBytes, sharedBytesMin } from '../../../../raft/codec/shared-bytes.ts';
import type { CommandEntry } from '../../../../raft/core/types.ts';
import { packBatch, unpackBatch } from '../../../../raft/member/packed-batch.ts';

const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const entry = fc.record<CommandEntry>({
  kind: fc.constant('command'),
  index: number,
  term: number,
  time: number,
  payload: fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.nat({ max: 9 }).map(sharedPayload)),
});

/** A buffer of Node's comes out as plain bytes. */
const plain = (entries: readonly CommandEntry[]) => entries.map((each) => ({ ...each, payload: [...each.payload] }));

function sharedPayload(byte: number): Uint8Array {
  return newSharedBytes(sharedBytesMin + byte).fill(byte);
}

describe('a packed batch', () => {
  it('comes out as it went in', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const batch = { first: 3, last: 9, term: 2, logTime: 1, bytes: 7, entries };
        const unpacked = unpackBatch(structuredClone(packBatch(batch)));
        expect(plain(unpacked.entries)).to.deep.equal(plain(entries));
        expect({ ...unpacked, entries }).to.deep.equal(batch);
      }),
      { numRuns: 50 },
    );
  });

  it('copies no large command that lies in shared memory', () => {
    const payload = sharedPayload(7);
    const large: CommandEntry = { kind: 'command', index: 4, term: 1, time: 1, payload };
    const small: CommandEntry = { ...large, index: 5, payload: new Uint8Array(3) };
    const packed = packBatch({ first: 4, last: 5, term: 2, logTime: 1, bytes: 7, entries: [large, small] });
    expect(packed.payloads.length).to.equal(3);
    const [crossed] = unpackBatch(structuredClone(packed)).entries;
    payload[0] = 8;
    expect(crossed?.payload[0]).to.equal(8);
  });
});
