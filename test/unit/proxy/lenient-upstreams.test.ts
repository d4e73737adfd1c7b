// `options.lenient` over real sockets: what an upstream sends in a form that is allowed there reaches clients of either
// version of HTTP in the form of RFC 9112, and clients are allowed none of it.
import { expect } from 'chai';
import { lenientForms } from '../../../src/model/destination-options.ts';
import { freePort } from '../../support/free-port.ts';
import { readResponses } from '../../support/http1-reader.ts';
import { Http2Client } from '../../support/http2-client.ts';
import { forwarding, ProxyBed, type RawUpstream, rawExchange } from '../../support/proxy-bed.ts';
import { refusedBodies, refusedRequests } from '../../support/refused-requests.ts';

const responses = {
  bareLf: 'HTTP/1.1 200 OK\nX-A: y\nContent-Length: 2\n\nok',
  duplicateContentLength: 'HTTP/1.1 200 OK\r\nX-A: y\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
  spaceBeforeColon: 'HTTP/1.1 200 OK\r\nX-A : y\r\nContent-Length : 2\r\n\r\nok',
  paddedChunkSize: 'HTTP/1.1 200 OK\r\nX-A: y\r\nTransfer-Encoding: chunked\r\n\r\n2  \r\nok\r\n0  \r\n\r\n',
  controlBytes: 'HTTP/1.1 200 OK\r\nX-A: y\x01\r\nContent-Length: 2\r\n\r\nok',
} as const;
const get = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe('a lenient destination', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const install = async (response: string, lenient?: readonly string[]): Promise<RawUpstream> => {
    const upstream = await bed.rawUpstream((socket) => socket.write(response, 'latin1'));
    const destination = { options: { lenient } };
    await bed.install(forwarding(port, upstream.port, { listener: { http2: true }, destination }));
    return upstream;
  };

  for (const form of lenientForms) {
    it(`that allows ${form} has it put right for clients of HTTP/1.1 and HTTP/2`, async () => {
      const upstream = await install(responses[form], [form]);
      for (let i = 0; i < 3; i++) {
        const answer = await rawExchange(port, get);
        const { messages, end } = readResponses(Buffer.from(answer, 'latin1'));
        expect(end).to.equal('closed');
        expect(messages).to.have.length(1);
        expect(messages[0]).to.deep.include({ start: '200 1 OK', body: 'ok' });
        expect(messages[0]?.fields[0]).to.equal('X-A: y');
      }
      const client = new Http2Client(`http://127.0.0.1:${port}`);
      const { status, headers, body } = await client.ask({ ':path': '/' });
      client.close();
      expect([status, headers['x-a'], body]).to.deep.equal([200, 'y', 'ok']);
      expect(upstream.connections).to.equal(1);
    });

    it(`that does not allow ${form} is given up: 502`, async () => {
      await install(responses[form]);
      expect(await rawExchange(port, get)).to.match(/^HTTP\/1\.1 502 [\s\S]*"error":"bad_response"/);
      await install(
        responses[form],
        lenientForms.filter((other) => other !== form),
      );
      expect(await rawExchange(port, get)).to.match(/^HTTP\/1\.1 502 [\s\S]*"error":"bad_response"/);
    });
  }

  it('allows clients nothing', async () => {
    const upstream = await install(responses.bareLf, lenientForms);
    const lenient =
      /bare LF|LF alone|before the colon|same Content-Length|list in Content|after a chunk|(NUL|bell|DEL) in/;
    const chosen = [...refusedRequests, ...refusedBodies].filter(([name]) => lenient.test(name));
    expect(chosen.length).to.be.greaterThan(12);
    await Promise.all(
      chosen.map(async ([name, text]) => {
        const answer = await rawExchange(port, Buffer.from(`${text}GET /next HTTP/1.1\r\nHost: x\r\n\r\n`, 'latin1'));
        expect(answer.match(/HTTP\/1\.1 \d+/g) ?? ['HTTP/1.1 400'], name).to.deep.equal(['HTTP/1.1 400']);
      }),
    );
    expect(upstream.requests.filter((request) => request.includes('/next'))).to.deep.equal([]);
  });
});
