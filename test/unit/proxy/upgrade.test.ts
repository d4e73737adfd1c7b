// S02, and upgrades as contract.md §7.13 wants them.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { needs } from '../../support/needs.ts';
import { forwarding, ProxyBed, type RawClient, type RawUpstream } from '../../support/proxy-bed.ts';

const upgrade = (protocol: string): string =>
  `GET /chat HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: ${protocol}\r\nX-Key: 1\r\n\r\n`;
const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Accept: 2\r\n\r\n';

describe('an upgrade', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  it('joins both sides after 101, with what either sent ahead', async () => {
    const upstream = await bed.rawUpstream((socket) => {
      socket.removeAllListeners('data').on('data', (chunk) => socket.write(`<${chunk}>`));
      setTimeout(() => socket.write(`${switching}hello `), 30);
    });
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send(`${upgrade('websocket')}early`);
    await wire.until(/^HTTP\/1\.1 101 [\s\S]*X-Accept: 2\r\n[\s\S]*\r\n\r\nhello <early>$/);
    expect(wire.received).to.match(/\r\nConnection: upgrade\r\nUpgrade: websocket\r\n/i);
    expect(upstream.requests[0]).to.match(/\r\nConnection: upgrade\r\nUpgrade: websocket\r\n/i);
    expect(upstream.requests[0]).not.to.contain('early');
    wire.send('more');
    await wire.until(/<more>$/);
  });

  it('asks whether an end that says nothing still exists', async function () {
    needs(this, connectionsOfSystem);
    const upstream = await bed.rawUpstream((socket) => void socket.write(switching));
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send(upgrade('websocket'));
    await wire.until(/101/);
    await eventually(async () => expect(await keptAlive({ local: port })).to.deep.equal([true]));
    await eventually(async () => expect(await keptAlive({ remote: upstream.port })).to.deep.equal([true]));
  });

  it('carries much in both directions and waits for the slower side', async () => {
    const upstream = await bed.rawUpstream((socket) => {
      socket.removeAllListeners('data').pipe(socket);
      socket.write(switching);
    });
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send(upgrade('websocket'));
    await wire.until(/\r\n\r\n$/);
    const head = wire.received.length;
    const bytes = 'x'.repeat(1 << 20);
    for (let i = 0; i < 4; i++) wire.send(bytes);
    await eventually(() => expect(wire.received.length).to.equal(head + 4 * bytes.length));
  });

  it('ends on both sides when either ends', async () => {
    const upstream = await bed.rawUpstream((socket) => void socket.write(switching));
    await bed.install(forwarding(port, upstream.port));
    const first = bed.wire(port);
    first.send(upgrade('websocket'));
    await first.until(/101/);
    first.destroy();
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
    const second = bed.wire(port);
    second.send(upgrade('websocket'));
    await second.until(/101/);
    for (const socket of upstream.sockets) socket.destroy();
    await second.untilClosed();
  });

  describe('of which one side has ended', () => {
    const minute = 60_000 + 200;
    let clock: ManualClock;
    let wire: RawClient;
    let upstream: RawUpstream;
    beforeEach(async () => {
      clock = new ManualClock();
      bed = new ProxyBed({ clock });
      // A server that keeps its side open.
      upstream = await bed.rawUpstream((socket) => {
        socket.allowHalfOpen = true;
        socket.write(switching);
      });
      await bed.install(forwarding(port, upstream.port));
      wire = bed.wire(port);
      wire.send(upgrade('websocket'));
      await wire.until(/101/);
    });

    it('carries what the other side still sends', async () => {
      wire.socket.end('bye');
      for (let minutes = 0; minutes < 3; minutes++) {
        clock.advance(minute - 1_000);
        wire.received = '';
        for (const socket of upstream.sockets) socket.write('still there');
        await wire.until(/^still there$/);
      }
    });

    it('carries what the client still sends when the upstream has ended', async () => {
      wire.socket.removeAllListeners('end');
      const ended = once(wire.socket, 'end');
      let heard = '';
      for (const socket of upstream.sockets) {
        socket.removeAllListeners('data').on('data', (chunk) => {
          heard += chunk;
        });
        socket.end('bye');
      }
      await ended;
      expect(wire.received).to.match(/\r\n\r\nbye$/);
      for (let minutes = 0; minutes < 3; minutes++) {
        clock.advance(minute - 1_000);
        heard = '';
        wire.send('still here');
        await eventually(() => expect(heard).to.equal('still here'));
      }
      wire.socket.end();
      await wire.untilClosed();
      await eventually(() => expect(upstream.sockets.size).to.equal(0));
    });

    it('is cut when the other side says nothing for a minute', async () => {
      wire.socket.end('bye');
      await eventually(() => {
        clock.advance(minute);
        expect(wire.closed).to.equal(true);
      });
    });
  });

  it('whose client has said all it had to say before the 101 tells the upstream so, and is still sent something', async () => {
    const heard: string[] = [];
    const upstream = await bed.rawUpstream((socket) => {
      socket.allowHalfOpen = true;
      socket.removeAllListeners('data').on('data', (chunk) => void heard.push(`${chunk}`));
      socket.once('end', () => {
        heard.push('end');
        socket.end('bye');
      });
    });
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.socket.end(`${upgrade('websocket')}early`);
    await eventually(() => expect(upstream.requests).to.have.lengthOf(1));
    // By now the end has arrived as well: it came with the request.
    for (const socket of upstream.sockets) socket.write(switching);
    await wire.until(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nbye$/);
    expect(heard.join(' ')).to.equal('early end');
    await wire.untilClosed();
    await eventually(() => expect(upstream.sockets.size).to.equal(0));
  });

  it('may be asked for by a POST that says that it has no body', async () => {
    const upstream = await bed.rawUpstream((socket) => {
      socket.removeAllListeners('data').on('data', (chunk) => socket.write(`<${chunk}>`));
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    });
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send('POST /attach HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    await wire.until(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n$/);
    expect(upstream.requests[0]).to.match(/^POST \/attach [\s\S]*\r\nContent-Length: 0\r\n[\s\S]*Upgrade: tcp\r\n/);
    wire.send('more');
    await wire.until(/<more>$/);
  });

  it('answered with 200 is no upgrade: what the client sent ahead is the next request', async () => {
    const upstream = await bed.rawUpstream((socket, request) =>
      socket.write(
        `HTTP/1.1 200 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 5\r\n\r\n${request.slice(4, 9)}`,
      ),
    );
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send(`${upgrade('websocket')}GET /next HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n`);
    const answer = await wire.untilClosed();
    expect(answer.match(/HTTP\/1\.1 200 OK/g)).to.have.length(2);
    expect(answer).not.to.match(/\r\nUpgrade:/i);
    expect(upstream.requests).to.have.length(2);
    expect(upstream.requests[1]).to.match(/^GET \/next [\s\S]*\r\nX-Forwarded-For: 127\.0\.0\.1\r\n/);
  });

  it('loses nothing, and leaves nothing, while a middleware thinks about the 101', async () => {
    let answer: (() => void) | undefined;
    const processor = await bed.upstream((request, response) => {
      const phases: Buffer[] = [];
      request.on('data', (chunk: Buffer) => phases.push(chunk));
      request.on('end', () => {
        const { phase } = JSON.parse(Buffer.concat(phases).toString()) as { phase: string };
        const say = (): void => void response.end(JSON.stringify({ action: phase }));
        if (phase === 'requestHeaders') say();
        else answer = say;
      });
    });
    const upstream = await bed.rawUpstream((socket) => {
      socket.removeAllListeners('data').on('data', (chunk) => socket.write(`<${chunk}>`));
      socket.write(switching);
      setTimeout(() => socket.write('hello '), 50);
    });
    const { destinations = [], ...more } = forwarding(port, upstream.port, { route: { middlewareIds: ['p'] } });
    await bed.install({
      ...more,
      destinations: [...destinations, { id: 'p', name: 'p', host: '127.0.0.1', port: processor }],
      middlewares: [
        { id: 'p', name: 'p', type: 'extProc', extProc: { destinationId: 'p', mode: 'http', phaseTimeout: '20s' } },
      ],
    });
    const wire = bed.wire(port);
    wire.send(upgrade('websocket'));
    await eventually(() => expect(answer).to.not.equal(undefined));
    await new Promise((resolve) => setTimeout(resolve, 100));
    answer?.();
    await wire.until(/\r\n\r\nhello $/);
    wire.send('more');
    await wire.until(/<more>$/);
    const gone = bed.wire(port);
    answer = undefined;
    gone.send(upgrade('websocket'));
    await eventually(() => expect(answer).to.not.equal(undefined));
    expect(upstream.sockets.size).to.equal(2);
    gone.destroy();
    await eventually(() => expect(upstream.sockets.size).to.equal(1));
  });

  it('to another version of HTTP is not passed on', async () => {
    const upstream = await bed.rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send(upgrade('h2c').replace('X-Key: 1', 'HTTP2-Settings: AAMAAABkAAQAAP__'));
    await wire.until(/200 OK/);
    expect(upstream.requests[0]).not.to.match(/upgrade|http2-settings/i);
  });

  const badSwitches: readonly (readonly [string, string, string])[] = [
    ['a 101 without Upgrade', 'websocket', 'Connection: Upgrade'],
    ['a 101 with an empty Upgrade', 'websocket', 'Connection: Upgrade\r\nUpgrade:'],
    ['a 101 to another protocol than was asked for', 'websocket', 'Connection: Upgrade\r\nUpgrade: echo'],
    ['a 101 to one more than was asked for', 'websocket', 'Connection: Upgrade\r\nUpgrade: websocket, echo'],
    ['a 101 to another version than was asked for', 'echo/2', 'Connection: Upgrade\r\nUpgrade: echo/1'],
    ['a 101 to another version of HTTP', 'websocket', 'Connection: Upgrade\r\nUpgrade: h2c'],
  ];
  for (const [name, asked, fields] of badSwitches) {
    it(`is refused after ${name}: a bad response, and no tunnel`, async () => {
      const upstream = await bed.rawUpstream(
        (socket) => void socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n\r\ntunnelled`),
      );
      await bed.install(forwarding(port, upstream.port));
      const wire = bed.wire(port);
      wire.send(upgrade(asked));
      await wire.until(/^HTTP\/1\.1 502 [\s\S]*"error":"bad_response"/);
      expect(wire.received).not.to.contain('tunnelled');
      await eventually(() => expect(upstream.sockets.size).to.equal(0));
    });
  }

  const goodSwitches: readonly (readonly [string, string, string])[] = [
    ['one of several that were asked for', 'echo/2, websocket', 'WebSocket'],
    ['all that were asked for', 'tls/1.0, echo', 'TLS/1.0, echo'],
  ];
  for (const [name, asked, answered] of goodSwitches) {
    it(`may be to ${name}, in any case`, async () => {
      const upstream = await bed.rawUpstream(
        (socket) =>
          void socket.write(`HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: ${answered}\r\n\r\ntunnelled`),
      );
      await bed.install(forwarding(port, upstream.port));
      const wire = bed.wire(port);
      wire.send(upgrade(asked));
      await wire.until(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\ntunnelled$/);
      expect(wire.received).to.contain(`\r\nUpgrade: ${answered}\r\n`);
    });
  }

  it('that the client did not ask for is a bad response', async () => {
    const upstream = await bed.rawUpstream((socket) => void socket.write(switching));
    await bed.install(forwarding(port, upstream.port));
    const wire = bed.wire(port);
    wire.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await wire.untilClosed()).to.match(/^HTTP\/1\.1 502 [\s\S]*"error":"bad_response"/);
  });
});

const connectionsOfSystem = '/proc/net/tcp';

/** Returns for each established connection between such ports whether its TCP keep-alive timer runs (proc_net_tcp). */
async function keptAlive(ports: { local?: number; remote?: number }): Promise<boolean[]> {
  const lines = (await readFile(connectionsOfSystem, 'ascii')).trim().split('\n').slice(1);
  const connections = lines.map((line) => line.trim().split(/\s+/));
  const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16);
  const isMeant = (address: string | undefined, wanted: number | undefined) =>
    wanted === undefined || portOf(address) === wanted;
  return connections
    .filter(
      ([, local, remote, state]) => state === '01' && isMeant(local, ports.local) && isMeant(remote, ports.remote),
    )
    .map(([, , , , , timer]) => timer?.startsWith('02:') ?? false);
}
