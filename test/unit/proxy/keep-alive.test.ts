import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { forwarding, ProxyBed, rawExchange } from '../../support/proxy-bed.ts';

const get = (path: string, fields = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
const bodies = (text: string): string[] => text.split(/HTTP\/1\.1 [\s\S]*?\r\n\r\n/).filter((part) => part !== '');

describe('a client connection', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  it('has its pipelined requests answered in order', async () => {
    const upstream = await bed.upstream((request, response) => {
      const slow = request.url === '/0' ? 40 : 0;
      setTimeout(() => response.end(`[${request.url}]`), slow);
    });
    await bed.install(forwarding(port, upstream));
    const all = Array.from({ length: 20 }, (_, i) => get(`/${i}`)).join('') + get('/last', 'Connection: close\r\n');
    const answer = await rawExchange(port, all);
    expect([...answer.matchAll(/\[\/(\w+)\]/g)].map(([, path]) => path)).to.deep.equal(
      [...Array(20).keys(), 'last'].map(String),
    );
  });

  it('is closed after HTTP/1.0 unless that asks otherwise', async () => {
    const upstream = await bed.upstream((_request, response) => void response.end('ok'));
    await bed.install(forwarding(port, upstream));
    expect(await rawExchange(port, 'GET / HTTP/1.0\r\n\r\n')).to.match(/\r\nConnection: close\r\n[\s\S]*ok$/);
    const wire = bed.wire(port);
    wire.send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
    expect(await wire.until(/ok$/)).to.contain('Connection: keep-alive');
    wire.send('GET / HTTP/1.0\r\n\r\n');
    expect(bodies(await wire.untilClosed())).to.deep.equal(['ok', 'ok']);
  });

  it('gets a body of unknown length in chunks, or until the end with HTTP/1.0', async () => {
    const upstream = await bed.upstream((_request, response) => {
      response.write('one ');
      setTimeout(() => response.end('two'), 10);
    });
    await bed.install(forwarding(port, upstream));
    const answer = await rawExchange(port, get('/', 'Connection: close\r\n'));
    expect(answer)
      .to.contain('Transfer-Encoding: chunked')
      .and.match(/\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n$/);
    const old = await rawExchange(port, 'GET / HTTP/1.0\r\n\r\n');
    expect(old).not.to.contain('Transfer-Encoding');
    expect(old).to.match(/\r\n\r\none two$/);
  });

  it('gets no body after HEAD and goes on', async () => {
    const upstream = await bed.upstream((request, response) => {
      response.setHeader('Content-Length', 5);
      response.end(request.method === 'HEAD' ? undefined : 'hello');
    });
    await bed.install(forwarding(port, upstream));
    const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';
    const answer = await rawExchange(port, head + get('/', 'Connection: close\r\n'));
    expect(answer.match(/Content-Length: 5/g)).to.have.length(2);
    expect(bodies(answer)).to.deep.equal(['hello']);
  });

  it('passes trailers on in both directions', async () => {
    const upstream = await bed.rawUpstream((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 2\r\nConnection: x\r\n\r\n',
      ),
    );
    await bed.install(forwarding(port, upstream.port));
    const fields = 'Transfer-Encoding: chunked\r\nConnection: close\r\n';
    const request = `POST / HTTP/1.1\r\nHost: x\r\n${fields}\r\n3\r\nabc\r\n0\r\nX-Up: 1\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`;
    expect(await rawExchange(port, request)).to.match(/2\r\nok\r\n0\r\nX-Sum: 2\r\n\r\n$/);
    expect(upstream.requests[0]).to.match(/3\r\nabc\r\n0\r\nX-Up: 1\r\n\r\n$/);
  });

  it('gets interim responses, 103 among them', async () => {
    const upstream = await bed.rawUpstream((socket) =>
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    );
    await bed.install(forwarding(port, upstream.port));
    const answer = await rawExchange(port, get('/', 'Connection: close\r\n'));
    expect(answer).to.match(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*ok$/);
    expect(await rawExchange(port, 'GET / HTTP/1.0\r\n\r\n')).to.match(/^HTTP\/1\.1 200/);
  });

  it('gets more than a hundred interim responses', async () => {
    const interim = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(500);
    const upstream = await bed.rawUpstream((socket) =>
      socket.write(`${interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`),
    );
    await bed.install(forwarding(port, upstream.port));
    const answer = await rawExchange(port, get('/', 'Connection: close\r\n'));
    expect(answer.match(/HTTP\/1\.1 102 /g)).to.have.length(500);
    expect(answer).to.match(/\r\n\r\nok$/);
  });

  it('goes on for idleBetweenRequests after an empty line behind a body', async () => {
    const upstream = await bed.upstream((request, response) => request.pipe(response));
    const timeouts = { clientHeader: '100ms', idleBetweenRequests: '5s' };
    await bed.install(forwarding(port, upstream, { listener: { timeouts } }));
    const wire = bed.wire(port);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody\r\n');
    await wire.until(/body\r\n0\r\n\r\n$/);
    await new Promise((resolve) => setTimeout(resolve, 400));
    wire.send(get('/', 'Connection: close\r\n'));
    expect((await wire.untilClosed()).match(/HTTP\/1\.1 200 /g)).to.have.length(2);
  });

  it('is asked for the body it holds back when the upstream asks for it', async () => {
    const upstream = await bed.rawUpstream((socket) => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      socket.once('data', (body) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
    });
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send('PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n');
    await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    wire.send('body');
    expect(await wire.until(/body$/)).to.contain('HTTP/1.1 200 OK');
    expect(upstream.requests[0]).to.contain('Expect: 100-continue');
  });

  it('is asked for the body after expectContinue when the upstream says nothing', async () => {
    const upstream = await bed.upstream((request, response) => request.pipe(response));
    const destination = { options: { timeouts: { expectContinue: '50ms' } } };
    await bed.install(forwarding(port, upstream, { destination }));
    const silent = await bed.rawUpstream((socket) => {
      socket.once('data', (body) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
    });
    await bed.install(forwarding(port, silent.port, { destination }));
    const wire = bed.wire(port);
    wire.send('PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n');
    await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    wire.send('body');
    await wire.until(/body$/);
  });

  it('is refused what it expects beyond 100-continue', async () => {
    await bed.install(forwarding(port, await freePort()));
    for (const lines of ['miracles', '100-continue, miracles', '100-continue\r\nExpect: miracles']) {
      expect(await rawExchange(port, get('/', `Expect: ${lines}\r\n`)), lines).to.match(/^HTTP\/1\.1 417 /);
    }
    expect(await rawExchange(port, get('/', 'Connection: close\r\nExpect: ,100-Continue,,\r\n'))).to.not.match(
      /^HTTP\/1\.1 417 /,
    );
  });

  it('goes on after an answer that did not need its small body', async () => {
    await bed.install({ listeners: [{ id: 'l', name: 'l', port }] });
    const wire = bed.wire(port);
    wire.send('POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n01234');
    await wire.until(/404/);
    wire.send(`56789${get('/b', 'Connection: close\r\n')}`);
    expect((await wire.untilClosed()).match(/HTTP\/1\.1 404/g)).to.have.length(2);
  });

  it('is told that it ends when more of its request is to come than is going to be taken', async () => {
    const upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno'));
    await bed.install(forwarding(port, upstream.port));
    for (const [length, connection] of [
      [2_000_000, 'close'],
      [1_000_000, ''],
    ] as const) {
      const client = bed.wire(port);
      client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n01234`);
      const answer = await client.until(/no$/);
      expect(/\r\nConnection: (.*)\r\n/.exec(answer)?.[1] ?? '').to.equal(connection);
    }
  });

  it('is closed behind a response that had begun when its port was closed', async () => {
    await bed.end();
    const clock = new ManualClock();
    bed = new ProxyBed({ clock });
    const held: (() => void)[] = [];
    const upstream = await bed.upstream((_request, response) => {
      response.write('first ');
      held.push(() => response.end('last'));
    });
    await bed.install(forwarding(port, upstream));
    const wire = bed.wire(port);
    wire.send(get('/'));
    expect(await wire.until(/first /)).to.not.contain('Connection: close');
    await bed.install({ listeners: [] });
    held[0]?.();
    await wire.until(/last\r\n0\r\n\r\n$/);
    await eventually(() => {
      clock.advance(100);
      expect(wire.closed).to.equal(true);
    });
  });

  it('that is idle when its port closes is still answered what was on its way, and then closed', async () => {
    await bed.end();
    const clock = new ManualClock();
    bed = new ProxyBed({ clock });
    const upstream = await bed.upstream((_request, response) => response.end('ok'));
    await bed.install(forwarding(port, upstream));
    const [asking, silent] = [bed.wire(port), bed.wire(port)];
    for (const wire of [asking, silent]) {
      wire.send(get('/'));
      await wire.until(/ok$/);
      wire.received = '';
    }
    await bed.install({ ...forwarding(port, upstream), listeners: [] });
    asking.send(get('/'));
    expect(await asking.untilClosed()).to.match(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n[\s\S]*ok$/);
    await eventually(() => {
      clock.advance(100);
      expect(silent.closed).to.equal(true);
    });
    expect(silent.received).to.equal('');
  });

  it('may send FIN behind its request and still gets the response', async () => {
    const upstream = await bed.upstream((_request, response) => void setTimeout(() => response.end('late'), 50));
    await bed.install(forwarding(port, upstream));
    const wire = bed.wire(port);
    wire.socket.end(get('/'));
    expect(await wire.untilClosed()).to.match(/late$/);
  });
});
