import { expect } from 'chai';

import { measureSpace, spaceHealth } from '../../../../raft/member/disk-watch.ts';

const mebibyte = 1024 * 1024;
const terabyte = 1024 * 1024 * mebibyte;

describe('the space left on a disk', () => {
  it('is low below a gibibyte on a large disk, full below 256 MiB', () => {
    expect(spaceHealth({ totalBytes: terabyte, freeBytes: 1025 * mebibyte })).to.equal('fine');
    expect(spaceHealth({ totalBytes: terabyte, freeBytes: 1023 * mebibyte })).to.equal('low');
    expect(spaceHealth({ totalBytes: terabyte, freeBytes: 255 * mebibyte })).to.equal('full');
  });

  it('is low below a tenth of a small disk, full below a fiftieth', () => {
    expect(spaceHealth({ totalBytes: 1000, freeBytes: 100 })).to.equal('fine');
    expect(spaceHealth({ totalBytes: 1000, freeBytes: 99 })).to.equal('low');
    expect(spaceHealth({ totalBytes: 1000, freeBytes: 19 })).to.equal('full');
  });

  it('can be measured', async () => {
    const { freeBytes, totalBytes } = await measureSpace('.');
    expect(freeBytes).to.be.greaterThan(0).and.at.most(totalBytes);
  });
});
