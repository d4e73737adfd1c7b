import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { checksum } from '../../../../raft/codec/checksum.ts';
import { newSharedBytes, sharedBytesMin } from '../../../../raft/codec/shared-bytes.ts';

const small = fc.uint8Array({ maxLength: 40 });
const shared = fc.tuple(fc.nat({ max: 300_000 }), fc.nat({ max: 255 })).map(([more, byte]) => {
  const bytes = newSharedBytes(sharedBytesMin + more).fill(byte);
  bytes.writeUInt32BE(more, more);
  return bytes;
});

describe('a checksum of pieces', () => {
  it('is that of the bytes in one, whether or not large ones are known already', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(small, shared), { maxLength: 5 }),
        fc.nat({ max: 2 ** 32 - 1 }),
        (pieces, before) => {
          const expected = crc32(Buffer.concat(pieces), before);
          expect(checksum(pieces, before)).to.equal(expected);
          expect(checksum(pieces, before)).to.equal(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is right for the longest command', () => {
    const bytes = newSharedBytes(40 * 1024 * 1024).fill('command');
    expect(checksum([Buffer.from('head'), bytes])).to.equal(crc32(bytes, crc32('head')));
  });
});
