// S01, S03, S30 and S04's request side over real sockets: what is in doubt is answered 400 (405 for CONNECT, 505 for
// other versions) and the connection ends; the upstream never hears of it.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { forwarding, ProxyBed, type RawUpstream, rawExchange } from '../../support/proxy-bed.ts';
import { refusedBodies, refusedRequests } from '../../support/refused-requests.ts';

describe('the proxy keeps from its upstream', () => {
  let bed: ProxyBed;
  let port: number;
  let upstream: RawUpstream;
  before(async () => {
    bed = new ProxyBed();
    port = await freePort();
    upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    await bed.install(forwarding(port, upstream.port));
  });
  after(() => bed.end());

  for (const [name, text] of refusedRequests) {
    it(`${name}: the connection ends with a refusal`, async () => {
      const before = upstream.requests.length;
      const answer = await rawExchange(port, Buffer.from(`${text}GET /next HTTP/1.1\r\nHost: x\r\n\r\n`, 'latin1'));
      expect(answer).to.match(/^HTTP\/1\.1 (400|405|505) [\s\S]*\r\nConnection: close\r\n/);
      expect(answer.match(/HTTP\/1\.1 /g)).to.have.length(1);
      expect(upstream.requests.length).to.equal(before);
    });
  }

  for (const [name, text] of refusedBodies) {
    it(`${name}: nothing behind it is a request`, async () => {
      const before = upstream.requests.length;
      const bytes = Buffer.from(`${text}GET /next HTTP/1.1\r\nHost: x\r\n\r\n`, 'latin1');
      const answer = await rawExchange(port, bytes);
      expect(answer.match(/HTTP\/1\.1 /g)?.length ?? 0).to.be.at.most(1);
      expect(upstream.requests.slice(before).filter((request) => request.includes('/next'))).to.deep.equal([]);
      await eventually(() => expect(upstream.sockets.size).to.be.at.most(1));
    });
  }
});
