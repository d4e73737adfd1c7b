// Memory of compared bodies.
import { expect } from 'chai';
import { allKeptBytes, KeptBody, shareKeptBytes } from '../../../../../src/proxy/forward/mirror/kept-body.ts';

describe('the kept body of a compared response', () => {
  after(() => shareKeptBytes(1));

  it('refuses more than the part of its worker in 16 MiB, and gives back what it held', () => {
    shareKeptBytes(4);
    const bodies = Array.from({ length: 5 }, () => new KeptBody(1 << 20));
    const chunk = Buffer.alloc(1 << 20, 1);
    expect(bodies.map((body) => body.push(chunk))).to.deep.equal([true, true, true, true, false]);
    expect(allKeptBytes()).to.equal(4 << 20);
    for (const body of bodies) body.clear();
    expect(allKeptBytes()).to.equal(0);
  });

  it('holds no bytes of a body beyond its limit', () => {
    const body = new KeptBody(10);
    body.push(Buffer.from('0123456789'));
    expect(body.bytes?.toString()).to.equal('0123456789');
    body.push(Buffer.from('a'));
    expect(body.bytes).to.equal(undefined);
    expect(allKeptBytes()).to.equal(0);
    const other = new KeptBody(5);
    for (const part of ['012', '3456', '789a']) other.push(Buffer.from(part));
    expect(other.digest()).to.equal(body.digest());
  });
});
