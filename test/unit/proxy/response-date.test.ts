// Date of final responses (RFC 9110 §6.6.1), in both versions of HTTP, on real sockets.
import { once } from 'node:events';
import { expect } from 'chai';
import type { Route } from '../../../src/model/route.ts';
import { systemClock } from '../../../src/util/clock.ts';
import { freePort } from '../../support/free-port.ts';
import { Http2Client } from '../../support/http2-client.ts';
import { ProxyBed, rawExchange } from '../../support/proxy-bed.ts';

const sent = 'Tue, 01 Jul 2025 08:09:10 GMT';
const now = 'Thu, 26 Nov 2026 11:25:37 GMT';

/** Heads of the upstream's responses by path, without the status line. */
const upstreamHeads: Readonly<Record<string, string>> = {
  '/dated': `Date: ${sent}\r\nContent-Length: 0\r\n`,
  '/undated': 'Content-Length: 0\r\n',
  '/hop': `Date: ${sent}\r\nConnection: date\r\nContent-Length: 0\r\n`,
  '/removed': `Date: ${sent}\r\nContent-Length: 0\r\n`,
  '/set': `Date: ${sent}\r\nContent-Length: 0\r\n`,
  '/added': 'Content-Length: 0\r\n',
};

describe('the Date of a response', () => {
  let bed: ProxyBed;
  let port: number;
  let wallMs: number;
  beforeEach(async () => {
    wallMs = Date.parse(now);
    bed = new ProxyBed({ clock: { ...systemClock, nowMs: () => wallMs } });
    port = await freePort();
    const upstream = await bed.rawUpstream((socket, request) => {
      const path = request.split(' ')[1] ?? '';
      if (path === '/switched') {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
      } else if (path === '/hinted') {
        socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      } else socket.write(`HTTP/1.1 200 OK\r\n${upstreamHeads[path] ?? ''}\r\n`);
    });
    const to = (path: string, more: Partial<Route>): Route => ({ id: path, name: path, match: { path }, ...more });
    const forward = { destinations: [{ destinationId: 'd' }] };
    const edited = (path: string, headers: object) =>
      [
        to(path, { forward, middlewareIds: [path] }),
        { id: path, name: path, type: 'headers' as const, headers },
      ] as const;
    const edits = [
      edited('/removed', { responseHeadersToRemove: ['date'] }),
      edited('/set', { responseHeadersToAdd: [{ key: 'Date', value: 'mine' }] }),
      edited('/added', { responseHeadersToAdd: [{ key: 'date', value: 'mine', append: true }] }),
    ];
    await bed.install({
      listeners: [{ id: 'l', name: 'l', port, http2: true }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port }],
      middlewares: [
        ...edits.map(([, middleware]) => middleware),
        { id: 'cors', name: 'cors', type: 'cors', cors: { allowOrigins: [{ value: '*' }] } },
      ],
      routes: [
        to('/direct', { directResponse: { status: 200, body: 'x' }, middlewareIds: ['cors'] }),
        to('/stored', { directResponse: { status: 200, bodyFrom: { text: 'x' } } }),
        to('/own', { directResponse: { status: 200, headers: [{ key: 'Date', value: sent }] } }),
        to('/moved', { redirect: { path: '/direct' } }),
        ...edits.map(([route]) => route),
        ...['/dated', '/undated', '/hop', '/hinted', '/switched'].map((path) => to(path, { forward })),
      ],
    });
  });
  afterEach(() => bed.end());

  /** Returns status and values of Date over HTTP/1.1 and HTTP/2. */
  async function ask(path: string, method = 'GET', fields: Readonly<Record<string, string>> = {}) {
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `${method} ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n${lines.join('')}\r\n`;
    const text = await rawExchange(port, head);
    const last = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n')[0] ?? '';
    const first = [Number(last.slice(9, 12)), [...last.matchAll(/^date: (.*?)\r?$/gim)].map(([, value]) => value)];
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    try {
      const { status, headers } = await client.ask({ ':path': path, ':method': method, ...fields });
      return [first, [status, headers.date === undefined ? [] : [headers.date].flat()]];
    } finally {
      client.close();
    }
  }

  const both = (status: number, ...dates: readonly string[]) => [
    [status, dates],
    [status, dates],
  ];

  it('is there on each that Sluice makes', async () => {
    expect(await ask('/direct')).to.deep.equal(both(200, now));
    expect(await ask('/direct', 'HEAD')).to.deep.equal(both(200, now));
    expect(await ask('/moved')).to.deep.equal(both(301, now));
    expect(await ask('/nowhere')).to.deep.equal(both(404, now));
    const preflight = { Origin: 'https://a.test', 'Access-Control-Request-Method': 'GET' };
    expect(await ask('/direct', 'OPTIONS', preflight)).to.deep.equal(both(204, now));
    expect(await ask('/stored', 'GET', { 'If-None-Match': '*' })).to.deep.equal(both(304, now));
    expect(await rawExchange(port, 'GET / HTTP/1.1\r\n\r\n')).to.match(
      new RegExp(`^HTTP/1.1 400 [\\s\\S]*\\r\\nDate: ${now}\\r\\n`),
    );
  });

  it('is that of the configuration where a direct response has one', async () => {
    expect(await ask('/own')).to.deep.equal(both(200, sent));
  });

  it('is that of the upstream, as it came', async () => {
    expect(await ask('/dated')).to.deep.equal(both(200, sent));
  });

  it('is added where the upstream has sent none that is passed on', async () => {
    expect(await ask('/undated')).to.deep.equal(both(200, now));
    expect(await ask('/hop')).to.deep.equal(both(200, now));
  });

  it('is what a middleware has set, added or removed', async () => {
    expect(await ask('/removed')).to.deep.equal(both(200));
    expect(await ask('/set')).to.deep.equal(both(200, 'mine'));
    expect(await ask('/added')).to.deep.equal(both(200, 'mine'));
  });

  it('is that of the second in which the response leaves', async () => {
    wallMs += 999;
    expect(await ask('/direct')).to.deep.equal(both(200, now));
    wallMs += 1;
    expect(await ask('/undated')).to.deep.equal(both(200, 'Thu, 26 Nov 2026 11:25:38 GMT'));
  });

  it('is not added to interim responses', async () => {
    const text = await rawExchange(port, 'GET /hinted HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n');
    expect(text).to.match(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*\r\nDate: /);
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    try {
      const stream = client.open({ ':path': '/hinted' }, true);
      const [hints] = await once(stream, 'headers');
      expect(hints[':status']).to.equal(103);
      expect(hints.date).to.equal(undefined);
    } finally {
      client.close();
    }
    const wire = bed.wire(port);
    wire.send('GET /switched HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    expect(await wire.until(/\r\n\r\n/))
      .to.match(/^HTTP\/1\.1 101 /)
      .and.not.match(/\r\ndate:/i);
  });
});
