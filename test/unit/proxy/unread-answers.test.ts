// Clients that do not take answers which Sluice makes itself: whichever part of it made them, the listener's time for
// responses ends them (contract.md §2.2).
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { block, frame, framesIn, greeting, settings, uint32, WHOLE } from '../../support/http2-frames.ts';
import { forwarding, ProxyBed, type RawClient } from '../../support/proxy-bed.ts';

const limitMs = 400;
const cancel = 8;
const large = 'x'.repeat(60_000);

describe('a client that does not take an answer of Sluice’s own', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const install = async (timeouts: object): Promise<void> => {
    const upstreamPort = await bed.upstream((_request, response) => response.end('ok'));
    const {
      listeners = [],
      destinations = [],
      routes = [],
    } = forwarding(port, upstreamPort, {
      listener: { http2: true, metrics: {}, timeouts },
      route: { match: { path: '/forwarded' } },
    });
    await bed.install({
      listeners,
      destinations,
      middlewares: [
        { id: 'm', name: 'm', type: 'inlineAuthz', inlineAuthz: { rules: [{ cel: 'false', action: 'allow' }] } },
      ],
      routes: [
        ...routes,
        { id: 'own', name: 'own', match: { path: '/own' }, directResponse: { status: 200, body: large } },
        {
          id: 'denied',
          name: 'denied',
          match: { path: '/denied' },
          middlewareIds: ['m'],
          directResponse: { status: 200 },
        },
      ],
    });
  };
  const frames = (wire: RawClient) => framesIn(Buffer.from(wire.received, 'latin1'));
  const resets = (wire: RawClient) =>
    frames(wire)
      .filter(({ type }) => type === 'RST_STREAM')
      .map(({ streamId, payload }) => [streamId, payload.readUInt32BE()]);
  const get = (id: number, path: string, ...more: [string, string][]): Buffer =>
    frame(
      'HEADERS',
      WHOLE,
      id,
      block([':method', 'GET'], [':scheme', 'http'], [':authority', 'x'], [':path', path], ...more),
    );
  const send = (wire: RawClient, ...parts: Buffer[]): void => wire.send(Buffer.concat(parts).toString('latin1'));

  it('for want of a window has its stream reset and, idle then, its connection closed', async () => {
    await install({ clientResponse: `${limitMs}ms`, idleBetweenRequests: `${limitMs}ms` });
    const wire = bed.wire(port);
    const asked = [
      ...['/nothing', '/own', '/metrics', '/denied'].map((path, at) => get(2 * at + 1, path)),
      // Refusals of what a request may not be.
      frame('HEADERS', WHOLE, 9, block([':method', 'CONNECT'], [':authority', 'x'])),
      get(11, '/own', ['host', 'other']),
    ];
    send(wire, greeting, settings(4, 0), ...asked);
    await eventually(() => expect(resets(wire).length).to.equal(asked.length));
    expect(resets(wire).sort(([a = 0], [b = 0]) => a - b)).to.deep.equal([1, 3, 5, 7, 9, 11].map((id) => [id, cancel]));
    await wire.untilClosed();
    expect(frames(wire).some(({ type }) => type === 'DATA')).to.equal(false);
  });

  it('for want of a window of the connection has that stream reset, and goes on with others', async () => {
    await install({ clientResponse: `${limitMs}ms`, idleBetweenRequests: '0' });
    const wire = bed.wire(port);
    send(wire, greeting, settings(4, 1 << 20), get(1, '/own'), get(3, '/own'));
    await eventually(() => expect(resets(wire)).to.deep.equal([[3, cancel]]));
    send(wire, frame('WINDOW_UPDATE', 0, 0, uint32(1 << 20)), get(5, '/own'));
    await eventually(() =>
      expect(
        frames(wire).some(({ type, flags, streamId }) => type === 'DATA' && streamId === 5 && (flags & 1) === 1),
      ).to.equal(true),
    );
  });

  it('has all of it when it takes some of it in time after time', async () => {
    await install({ clientResponse: '5s', idleBetweenRequests: '0' });
    const wire = bed.wire(port);
    send(wire, greeting, settings(4, 10_000), get(1, '/own'));
    for (let at = 0; at < 5; at++) {
      await eventually(() => expect(frames(wire).filter(({ type }) => type === 'DATA').length).to.be.greaterThan(at));
      send(wire, frame('WINDOW_UPDATE', 0, 1, uint32(10_000)));
    }
    await eventually(() =>
      expect(frames(wire).filter(({ flags, type }) => type === 'DATA' && flags === 1).length).to.equal(1),
    );
    expect(resets(wire)).to.deep.equal([]);
  });

  /** Waits until the proxy has closed the connection of a client that does not read. */
  const isGone = async (wire: RawClient): Promise<void> => {
    await eventually(() => {
      wire.send('\0');
      expect(wire.closed).to.equal(true);
    });
  };

  it('because it does not read loses its connection of HTTP/2, also when all other limits are off', async () => {
    await install({ clientResponse: `${limitMs}ms`, idleBetweenRequests: '0', clientHeader: '0', clientRequest: '0' });
    const wire = bed.wire(port);
    const room = uint32(1 << 30);
    send(wire, greeting, settings(4, 1 << 30), frame('WINDOW_UPDATE', 0, 0, room));
    await wire.until(/./s);
    wire.socket.pause();
    for (let id = 1; id < 250; id += 2) send(wire, get(id, '/own'));
    await isGone(wire);
  });

  it('because it does not read loses its connection of HTTP/1.1 too', async () => {
    await install({ clientResponse: `${limitMs}ms`, idleBetweenRequests: '0', clientHeader: '0', clientRequest: '0' });
    const wire = bed.wire(port);
    await new Promise((resolve) => wire.socket.once('connect', resolve));
    wire.socket.pause();
    for (let at = 0; at < 300; at++) wire.send('GET /own HTTP/1.1\r\nHost: x\r\n\r\n');
    await isGone(wire);
  });

  it('and reads on within the limit goes on with its connection of HTTP/1.1', async () => {
    await install({ clientResponse: `${4 * limitMs}ms`, idleBetweenRequests: '0' });
    const wire = bed.wire(port);
    await new Promise((resolve) => wire.socket.once('connect', resolve));
    wire.socket.pause();
    for (let at = 0; at < 300; at++) wire.send('GET /own HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, limitMs));
    wire.socket.resume();
    await eventually(() => expect(wire.received.length).to.be.greaterThan(300 * large.length));
    await new Promise((resolve) => setTimeout(resolve, 5 * limitMs));
    expect(wire.closed).to.equal(false);
  });
});
