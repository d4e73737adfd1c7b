// RFC 9112 §3.2.2: the authority of an absolute-form target is the request’s, and Host does not count.
import { expect } from 'chai';
import { freePort } from '../../support/free-port.ts';
import { ProxyBed, type RawUpstream } from '../../support/proxy-bed.ts';

const forward = { destinations: [{ destinationId: 'd' }] };

describe('the authority of an absolute-form target', () => {
  let bed: ProxyBed;
  let port: number;
  let upstream: RawUpstream;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    await bed.install({
      listeners: [{ id: 'l', name: 'l', port }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port }],
      middlewares: [
        {
          id: 'm',
          name: 'm',
          type: 'inlineAuthz',
          inlineAuthz: { rules: [{ cel: 'request.host == "b.test"', action: 'allow' }], defaultAction: 'deny' },
        },
      ],
      routes: [
        { id: 'a', name: 'a', match: { hostnames: ['a.test'] }, directResponse: { status: 418 } },
        { id: 'b', name: 'b', match: { hostnames: ['b.test'] }, forward, middlewareIds: ['m'] },
      ],
    });
  });
  afterEach(() => bed.end());

  it('counts over Host in routing, expressions, Host and X-Forwarded-Host, also in a request that repeats', async () => {
    const wire = bed.wire(port);
    for (let i = 1; i <= 3; i++) {
      wire.send('GET http://b.test:81/x?y HTTP/1.1\r\nHost: a.test\r\n\r\n');
      await wire.until(new RegExp(`^(HTTP/1\\.1 200 [\\s\\S]*?\\r\\n\\r\\n){${i}}$`));
    }
    expect(upstream.requests).to.have.length(3);
    for (const request of upstream.requests) {
      expect(request).to.match(/^GET \/x\?y HTTP\/1\.1\r\nHost: b\.test:81\r\n/);
      expect(request).to.contain('X-Forwarded-Host: b.test:81\r\n');
      expect(request).not.to.contain('a.test');
    }
    wire.send('GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await wire.until(/HTTP\/1\.1 418 /);
  });
});
