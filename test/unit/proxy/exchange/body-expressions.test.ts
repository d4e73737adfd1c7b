import { expect } from 'chai';
import { freePort } from '../../../support/free-port.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';

describe('an expression that reads the body', () => {
  let bed: ProxyBed;
  let port: number;

  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    const upstream = await bed.upstream((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString('latin1');
      });
      request.on('end', () => response.end(`${request.url} ${body.length} ${body.slice(0, 40)}`));
    });
    await bed.install({
      listeners: [{ id: 'l', name: 'l', port }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream }],
      routes: [
        {
          id: 'a',
          name: 'a',
          match: { path: '/x', cel: 'request.body.json.kind == "a"' },
          forward: { destinations: [{ destinationId: 'd' }], rewrite: { path: '/chosen' } },
        },
        {
          id: 'b',
          name: 'b',
          match: { path: '/x', methods: ['PUT'], cel: 'request.body.raw == ""' },
          directResponse: { status: 200, body: 'empty' },
        },
        { id: 'c', name: 'c', match: { path: '/x' }, forward: { destinations: [{ destinationId: 'd' }] } },
      ],
    });
  });

  afterEach(() => bed.end());

  const send = async (body: string, headers = 'Content-Type: application/json\r\n', method = 'POST') => {
    const wire = bed.wire(port);
    const length = `Content-Length: ${body.length}\r\n`;
    wire.send(`${method} /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}${length}\r\n${body}`);
    return (await wire.untilClosed()).split('\r\n\r\n')[1] ?? '';
  };

  it('decides the match, and the body is forwarded whole', async () => {
    expect(await send('{"kind":"a"}')).to.contain('/chosen 12 {"kind":"a"}');
    expect(await send('{"kind":"b"}')).to.contain('/x 12 {"kind":"b"}');
  });

  it('sees no json of a body beyond the limit, which goes on whole all the same', async () => {
    const body = `{"kind":"a","pad":"${'x'.repeat(70_000)}"}`;
    expect(await send(body)).to.contain(`/x ${body.length} `);
  });

  it('sees an empty body where there is none', async () => {
    expect(await send('', '', 'PUT')).to.equal('empty');
  });

  it('waits for a body that comes in parts', async () => {
    const wire = bed.wire(port);
    const head = 'POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n';
    wire.send(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"kin\r\n`);
    wire.send('7\r\nd":"a"}\r\n0\r\n\r\n');
    expect(await wire.untilClosed()).to.contain('/chosen 12 {"kind":"a"}');
  });

  it('sends 100 to a client that holds its body back', async () => {
    const wire = bed.wire(port);
    const head = 'POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n';
    wire.send(`${head}Content-Length: 12\r\nExpect: 100-continue\r\n\r\n`);
    await wire.until(/100 Continue/);
    wire.send('{"kind":"a"}');
    expect(await wire.untilClosed()).to.contain('/chosen 12 {"kind":"a"}');
  });
});
