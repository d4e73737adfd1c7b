// Proxy errors in response to HEAD: clients that read a body by its type find none.
import { expect } from 'chai';
import { freePort } from '../../support/free-port.ts';
import { ProxyBed, rawExchange } from '../../support/proxy-bed.ts';

describe('a proxy error in response to HEAD', () => {
  it('has no body and no type of one, and the status and length of that to GET', async () => {
    const bed = new ProxyBed();
    try {
      const port = await freePort();
      await bed.install({ listeners: [{ id: 'l', name: 'l', address: '127.0.0.1', port }] });
      const ask = (method: string) =>
        rawExchange(port, `${method} / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`);
      const [got, headed] = [await ask('GET'), await ask('HEAD')];
      expect(got).to.match(/^HTTP\/1.1 404 [\s\S]*\r\nContent-Type: application\/json\r\n/);
      expect(headed).to.match(/^HTTP\/1.1 404 /);
      expect(headed).to.not.match(/content-type/i);
      expect(headed.split('\r\n\r\n')[1]).to.equal('');
      const length = (text: string) => /Content-Length: (\d+)/i.exec(text)?.[1];
      expect(length(headed)).to.equal(length(got));
    } finally {
      await bed.end();
    }
  });
});
