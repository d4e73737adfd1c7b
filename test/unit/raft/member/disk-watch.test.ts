import { expect } from 'chai';

import { measureSpace, spaceHealth, spaceText } from '../../../../raft/member/disk-watch.ts';

const mebibyte = 1024 * 1024;
const terabyte = 1024 * 1024 * mebibyte;
const inodes = { totalInodes: 1_000_000, freeInodes: 500_000 };

describe('the space left on a disk', () => {
  it('is low below a gibibyte on a large disk, full below 256 MiB', () => {
    expect(spaceHealth({ ...inodes, totalBytes: terabyte, freeBytes: 1025 * mebibyte })).to.equal('fine');
    expect(spaceHealth({ ...inodes, totalBytes: terabyte, freeBytes: 1023 * mebibyte })).to.equal('low');
    expect(spaceHealth({ ...inodes, totalBytes: terabyte, freeBytes: 255 * mebibyte })).to.equal('full');
  });

  it('is low below a tenth of a small disk, full below a fiftieth', () => {
    expect(spaceHealth({ ...inodes, totalBytes: 1000, freeBytes: 100 })).to.equal('fine');
    expect(spaceHealth({ ...inodes, totalBytes: 1000, freeBytes: 99 })).to.equal('low');
    expect(spaceHealth({ ...inodes, totalBytes: 1000, freeBytes: 19 })).to.equal('full');
  });

  it('is low and full by inodes as well, where the file system counts them', () => {
    const bytes = { totalBytes: terabyte, freeBytes: terabyte };
    const health = (freeInodes: number, totalInodes = 1_000_000) => spaceHealth({ ...bytes, freeInodes, totalInodes });
    expect([health(1_000), health(999), health(99)]).to.deep.equal(['fine', 'low', 'full']);
    expect([health(10, 100), health(9, 100), health(1, 100)]).to.deep.equal(['fine', 'low', 'full']);
    expect(health(0, 0)).to.equal('fine');
    expect(spaceText({ ...bytes, freeInodes: 0, totalInodes: 1_000 })).to.equal('0 inodes free');
    expect(spaceText({ ...inodes, totalBytes: terabyte, freeBytes: 7 })).to.equal('7 bytes free');
  });

  it('can be measured', async () => {
    const { freeBytes, totalBytes, freeInodes, totalInodes } = await measureSpace('.');
    expect(freeBytes).to.be.greaterThan(0).and.at.most(totalBytes);
    expect(freeInodes).to.be.at.most(totalInodes);
  });
});
