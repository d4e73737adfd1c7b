// S20, and the four timeouts of a listener (contract.md §2.2).
import { connect } from 'node:http2';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { forwarding, ProxyBed, rawExchange } from '../../support/proxy-bed.ts';

const get = (fields: string): string => `GET / HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;

describe('a listener', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const limited = async (listener: object, destination: object = {}) => {
    const upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    await bed.install(forwarding(port, upstream.port, { listener, destination }));
    return upstream;
  };

  it('answers 431 to more field bytes than maxRequestHeadersKB', async () => {
    const upstream = await limited({ maxRequestHeadersKB: 1 });
    const answer = await rawExchange(port, get(`X: ${'a'.repeat(1_100)}\r\n`));
    expect(answer).to.match(/^HTTP\/1\.1 431 [\s\S]*"error":"request_headers_too_large"/);
    expect(await rawExchange(port, get(`X: ${'a'.repeat(900)}\r\nConnection: close\r\n`))).to.match(/^HTTP\/1\.1 200/);
    expect(upstream.requests).to.have.length(1);
  });

  it('holds the next request of an open connection to limits that were activated meanwhile', async () => {
    const upstream = await limited({});
    const wires = [bed.wire(port), bed.wire(port)];
    for (const wire of wires) {
      wire.send(get(''));
      await wire.until(/200 OK/);
    }
    const [large, many] = wires;
    await bed.install(forwarding(port, upstream.port, { listener: { maxRequestHeadersKB: 1 } }));
    large?.send(get(`X: ${'a'.repeat(1_100)}\r\n`));
    await large?.until(/HTTP\/1\.1 431 /);
    await bed.install(forwarding(port, upstream.port, { listener: { maxRequestHeaders: 10 } }));
    many?.send(get('X: 1\r\n'.repeat(10)));
    await many?.until(/HTTP\/1\.1 431 /);
    expect(upstream.requests).to.have.length(2);
  });

  it('answers 431 to more field lines than maxRequestHeaders', async () => {
    await limited({ maxRequestHeaders: 10 });
    expect(await rawExchange(port, get('X: 1\r\n'.repeat(10)))).to.match(/^HTTP\/1\.1 431 /);
  });

  it('takes a head of nearly 1 MiB and answers 431 to a larger one, also when it never ends', async () => {
    const upstream = await limited({});
    const line = `X: ${'a'.repeat(100_000)}\r\n`;
    const answer = await rawExchange(port, get(`${line.repeat(10)}Connection: close\r\n`));
    expect(answer).to.match(/^HTTP\/1\.1 200/);
    expect(await rawExchange(port, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(1_100_000)}`)).to.match(
      /^HTTP\/1\.1 431 /,
    );
    expect(upstream.connections).to.equal(1);
  });

  it('answers 414 to a target over 64 KB', async () => {
    await limited({});
    expect(await rawExchange(port, `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)).to.match(
      /^HTTP\/1\.1 414 /,
    );
  });

  it('answers 414 to a request line above 64 KiB, in how many pieces it comes and over HTTP/2 too', async () => {
    await bed.install({
      listeners: [{ id: 'l', name: 'l', port, http2: true }],
      routes: [{ id: 'r', name: 'r', match: {}, directResponse: { status: 200 } }],
    });
    const max = 65_536;
    const pathOf = (line: number): string => `/${'a'.repeat(line - 'GET / HTTP/1.1'.length)}`;
    for (const [line, status] of [
      [max, 200],
      [max + 1, 414],
    ] as const) {
      const request = `GET ${pathOf(line)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      for (const at of [request.length, line - 3, line + 1]) {
        const client = bed.wire(port);
        client.send(`\r\n\r\n${request.slice(0, at)}`);
        await new Promise((resolve) => setImmediate(resolve));
        client.send(request.slice(at));
        expect(await client.untilClosed(), `${line} bytes, ${at} first`).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      }
      expect(await statusOverHttp2(port, pathOf(line)), `${line} bytes over HTTP/2`).to.equal(status);
    }
  });

  it('closes without a word when a head does not come in time', async () => {
    await limited({ timeouts: { clientHeader: '100ms' } });
    const silent = bed.wire(port);
    const slow = bed.wire(port);
    slow.send('GET / HTTP/1.1\r\nHo');
    expect(await silent.untilClosed()).to.equal('');
    expect(await slow.untilClosed()).to.equal('');
  });

  it('closes when a body does not come in time, and lets go of the upstream', async () => {
    const upstream = await bed.rawUpstream(() => {});
    await bed.install(forwarding(port, upstream.port, { listener: { timeouts: { clientRequest: '150ms' } } }));
    const wire = bed.wire(port);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab');
    expect(await wire.untilClosed()).to.equal('');
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
  });

  it('closes an idle connection after idleBetweenRequests and no earlier', async () => {
    await limited({ timeouts: { idleBetweenRequests: '200ms' } });
    const wire = bed.wire(port);
    const start = performance.now();
    wire.send(get(''));
    await wire.until(/200 OK/);
    await wire.untilClosed();
    expect(performance.now() - start).to.be.at.least(190);
  });

  it('cuts a response that takes longer than clientResponse', async () => {
    const upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab'));
    await bed.install(forwarding(port, upstream.port, { listener: { timeouts: { clientResponse: '150ms' } } }));
    const wire = bed.wire(port);
    wire.send(get(''));
    expect(await wire.untilClosed()).to.match(/ab$/);
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
  });

  it('changes its limits without losing a connection', async () => {
    const upstream = await limited({});
    const wire = bed.wire(port);
    wire.send(get(''));
    await wire.until(/200 OK/);
    await bed.install(forwarding(port, upstream.port, { listener: { maxRequestHeaders: 1 } }));
    wire.send(get(''));
    await wire.until(/200 OK[\s\S]*200 OK/);
    wire.send(get('X: 1\r\n'));
    await wire.until(/431/);
  });
});

/** Resolves with the status of a GET over HTTP/2. */
function statusOverHttp2(port: number, path: string): Promise<number | undefined> {
  const session = connect(`http://127.0.0.1:${port}`, { maxSendHeaderBlockLength: 1 << 20 });
  return new Promise<number | undefined>((resolve, reject) => {
    const stream = session.request({ ':path': path });
    stream.on('response', ({ ':status': status }) => resolve(status));
    stream.on('error', reject);
    stream.resume();
  }).finally(() => session.destroy());
}
