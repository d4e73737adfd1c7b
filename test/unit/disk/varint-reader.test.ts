import { expect } from 'chai';
import { maskedCrc32c } from '../../../disk/crc32c.ts';
import { VarintReader } from '../../../disk/varint-reader.ts';

describe('VarintReader', () => {
  it('reads numbers of seven bits a byte', () => {
    const reader = new VarintReader(Buffer.from([0, 127, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]));
    expect([reader.varint(), reader.varint(), reader.varint(), reader.varint()]).to.deep.equal([
      0, 127, 128, 0xffffffff,
    ]);
    expect(reader.done).to.equal(true);
  });

  it('does not read past the end', () => {
    expect(() => new VarintReader(Buffer.from([0x80])).varint()).to.throw();
    expect(() => new VarintReader(Buffer.from([1])).take(2)).to.throw('cut off');
    expect(() => new VarintReader(Buffer.alloc(20, 0xff)).varint()).to.throw('too long');
  });
});

describe('maskedCrc32c', () => {
  it('is the checksum of RFC 3720 B.4 with the mask taken off', () => {
    const unmask = (masked: number) => {
      const rotated = (masked - 0xa282ead8) >>> 0;
      return ((rotated >>> 17) | (rotated << 15)) >>> 0;
    };
    expect(unmask(maskedCrc32c(Buffer.alloc(32)))).to.equal(0x8a9136aa);
    expect(unmask(maskedCrc32c(Buffer.alloc(32, 0xff)))).to.equal(0x62a8ab43);
    expect(unmask(maskedCrc32c(Buffer.from(Array.from({ length: 32 }, (_, at) => at))))).to.equal(0x46dd794e);
  });
});
