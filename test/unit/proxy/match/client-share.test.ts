// Clients of a candidate (fleet.md §7), against the formula written out and over twenty thousand clients.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { bucketOf } from '../../../../src/model/rollout-bucket.ts';
import { ClientShare } from '../../../../src/proxy/match/client-share.ts';
import { ShareCell } from '../../../../src/proxy/shared/share-cell.ts';

const request = (clientIp: string, fields: Readonly<Record<string, string>> = {}) => ({
  clientIp,
  header: (name: string) => fields[name],
});
const seed = '7f0c2f8e-0d2b-4a35-9a0e-8f6c5d1c9b11';

describe('the share of a candidate', () => {
  it('is the first eight bytes of SHA-256 over seed, zero and value, as a fraction', () => {
    for (const value of ['192.0.2.1', '2001:db8::1', 'Grüße'.normalize(), '']) {
      const bytes = Buffer.concat([Buffer.from(seed), Buffer.from([0]), Buffer.from(value, 'latin1')]);
      const digest = createHash('sha256').update(bytes).digest();
      expect(bucketOf(seed, value)).to.equal(Number(digest.readBigUInt64BE(0)) / 2 ** 64);
    }
  });

  it('of 20,000 clients is within 0.7 points through 1 → 10 → 30 → 100 %, none goes back, and as few move as can', () => {
    const cell = new ShareCell();
    const clients = Array.from({ length: 20_000 }, (_, n) => request(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`));
    const share = new ClientShare(seed, { clientIp: true }, cell);
    let before = new Set<string>();
    for (const percent of [1, 10, 30, 100]) {
      cell.percent = percent;
      const served = new Set(clients.filter((client) => share.has(client)).map(({ clientIp }) => clientIp));
      expect((served.size / clients.length) * 100).to.be.closeTo(percent, 0.7);
      for (const client of before) expect(served.has(client), 'nobody goes back').to.equal(true);
      before = served;
    }
  });

  it('moves exactly those that the growth takes: 10 → 20 % no client but of the tenth between', () => {
    const clients = Array.from({ length: 5_000 }, (_, n) => `client-${n}`);
    const served = (percent: number) => {
      const cell = new ShareCell();
      cell.percent = percent;
      const share = new ClientShare(seed, { header: 'X-User' }, cell);
      return clients.filter((client) => share.has(request('192.0.2.1', { 'x-user': client })));
    };
    const [ten, twenty] = [served(10), served(20)];
    expect(twenty.filter((client) => ten.includes(client))).to.deep.equal(ten);
    expect(twenty.every((client) => bucketOf(seed, client) < 0.2)).to.equal(true);
  });

  it('goes by header or cookie, and by the address where they are absent', () => {
    const cell = new ShareCell();
    cell.percent = 50;
    const address = '192.0.2.77';
    const byAddress = bucketOf(seed, address) < 0.5;
    const [inside, outside] = ['inside', 'outside'].map((wanted) => {
      for (let n = 0; ; n++)
        if (bucketOf(seed, `${wanted}-${n}`) < 0.5 === (wanted === 'inside')) return `${wanted}-${n}`;
    });
    const byHeader = new ClientShare(seed, { header: 'X-User' }, cell);
    expect(byHeader.has(request(address, { 'x-user': inside ?? '' }))).to.equal(true);
    expect(byHeader.has(request(address, { 'x-user': outside ?? '' }))).to.equal(false);
    expect(byHeader.has(request(address))).to.equal(byAddress);
    expect(byHeader.has(request(address, { 'x-user': '' }))).to.equal(byAddress);
    const byCookie = new ClientShare(seed, { cookie: 'user' }, cell);
    expect(byCookie.has(request(address, { cookie: `a=b; user=${inside}` }))).to.equal(true);
    expect(byCookie.has(request(address, { cookie: `user=${outside}` }))).to.equal(false);
    expect(byCookie.has(request(address, { cookie: 'a=b' }))).to.equal(byAddress);
  });

  it('is no client at 0 % and every client at 100 %, and follows its cell', () => {
    const cell = new ShareCell();
    const share = new ClientShare(seed, { clientIp: true }, new ShareCell(cell.buffer));
    const clients = Array.from({ length: 500 }, (_, n) => request(`client ${n}`));
    for (const percent of [0, 100, 0, 0.01, 100]) {
      cell.percent = percent;
      const served = clients.filter((client) => share.has(client)).length;
      expect(served, `${percent} %`).to.be.within(
        percent === 100 ? 500 : 0,
        percent === 100 ? 500 : percent === 0 ? 0 : 5,
      );
    }
  });
});
