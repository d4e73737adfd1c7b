// Memory of compared bodies.
import { expect } from 'chai';
import { KeptBody } from '../../../../../src/proxy/forward/mirror/kept-body.ts';
import {
  allKeptBytes,
  blockBytes,
  giveBytes,
  shareKeptBytes,
  takeBytes,
} from '../../../../../src/proxy/forward/mirror/kept-bytes.ts';
import { seededRandom } from '../../../../support/random.ts';

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

  it('keeps nothing of a body that is announced to be longer than its limit', () => {
    const body = new KeptBody(10);
    body.expect(11);
    body.push(Buffer.from('01234'));
    expect(allKeptBytes()).to.equal(0);
    body.push(Buffer.from('56789a'));
    const other = new KeptBody(10);
    other.push(Buffer.from('0123456789a'));
    expect(body.digest()).to.equal(other.digest());
  });

  it('holds what came, in parts of any size, and tells whether another is the same', () => {
    const random = seededRandom(9);
    const size = () => Math.floor(random() ** 3 * 2 * blockBytes);
    for (let round = 0; round < 60; round++) {
      const whole = Buffer.alloc(2 * size(), 'abcdefghijk');
      const bodies = [true, false].map((isAnnounced) => {
        const body = new KeptBody(1 << 20);
        if (isAnnounced) body.expect(whole.length);
        for (let at = 0; at < whole.length; ) {
          const part = whole.subarray(at, at + 1 + size());
          expect(body.push(part)).to.equal(true);
          at += part.length;
        }
        return body;
      }) as [KeptBody, KeptBody];
      const [one, other] = bodies;
      expect(one.bytes?.equals(whole)).to.equal(true);
      expect(one.isSame(other)).to.equal(true);
      other.push(Buffer.from('z'));
      expect(one.isSame(other)).to.equal(false);
      one.push(Buffer.from('y'));
      expect(one.isSame(other)).to.equal(false);
      for (const body of bodies) body.clear();
      expect(allKeptBytes()).to.equal(0);
    }
  });

  it('takes memory from the system for the first of many bodies alone', () => {
    shareKeptBytes(1);
    const first = takeBytes(blockBytes) as Buffer;
    giveBytes(first);
    for (let round = 0; round < 100; round++) {
      const body = new KeptBody(1 << 20);
      body.push(Buffer.alloc(blockBytes));
      body.clear();
    }
    expect(takeBytes(blockBytes) === first).to.equal(true);
    giveBytes(first);
  });
});
