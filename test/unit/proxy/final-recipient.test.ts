// Requests that Sluice ends itself: those of methods that it does not serve, and those that may go no further.
import { expect } from 'chai';
import { freePort } from '../../support/free-port.ts';
import { Http2Client } from '../../support/http2-client.ts';
import { forwarding, ProxyBed, type RawUpstream, rawExchange } from '../../support/proxy-bed.ts';

describe('a request that goes no further', () => {
  let bed: ProxyBed;
  let port: number;
  let upstream: RawUpstream;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    await bed.install(forwarding(port, upstream.port, { listener: { http2: true } }));
  });
  afterEach(() => bed.end());

  const ask = (method: string, fields: string, target = '/') =>
    rawExchange(port, `${method} ${target} HTTP/1.1\r\nHost: x\r\n${fields}Connection: close\r\n\r\n`);
  const forwards = () => /\r\nMax-Forwards: (.*)\r\n/i.exec(upstream.requests.at(-1) ?? '')?.[1];

  it('is one of OPTIONS or TRACE with Max-Forwards: 0', async () => {
    const options = await ask('OPTIONS', 'Max-Forwards: 0\r\n');
    expect(options)
      .to.match(/^HTTP\/1\.1 204 /)
      .and.match(/\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n/);
    const trace = await ask('TRACE', 'Max-Forwards: 0\r\n');
    expect(trace)
      .to.match(/^HTTP\/1\.1 405 /)
      .and.contain('"error":"method_not_allowed"');
    expect(upstream.requests).to.have.length(0);
  });

  it('goes one hop further with a number above 0', async () => {
    for (const method of ['OPTIONS', 'TRACE']) {
      await ask(method, 'Max-Forwards: 010\r\n');
      expect(forwards()).to.equal('9');
    }
  });

  it('goes on untouched with another method, or where Max-Forwards is no number', async () => {
    await ask('GET', 'Max-Forwards: 0\r\n');
    expect(forwards()).to.equal('0');
    await ask('OPTIONS', 'Max-Forwards: -1\r\n');
    expect(forwards()).to.equal('-1');
  });

  it('is CONNECT, answered with the methods that Sluice allows, over HTTP/1.1 and HTTP/2', async () => {
    const answer = await ask('CONNECT', '', 'x:80');
    expect(answer)
      .to.match(/^HTTP\/1\.1 405 /)
      .and.match(/\r\nAllow: GET, /);
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    const { status, headers } = await client.ask({ ':method': 'CONNECT', ':authority': 'x:80' });
    expect([status, headers.allow]).to.deep.equal([405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
    client.close();
  });
});
