import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { body } from '../support/resources.ts';

// contract.md §4.1 and §11 rows 17 and 18.
describe('GET /sync/snapshot', () => {
  let api: ApiServer;
  const open: IncomingMessage[] = [];

  beforeEach(async () => {
    api = await ApiServer.start({
      options: {
        apiKeys: [
          { name: 'p', key: 'p', role: 'proxy' },
          { name: 'a', key: 'a', role: 'admin' },
        ],
      },
    });
  });

  afterEach(async () => {
    for (const response of open.splice(0)) response.destroy();
    await api.stop();
  });

  async function follow(path = '/api/v1/sync/snapshot', key = 'p') {
    const headers = { authorization: `Bearer ${key}`, 'last-event-id': '999' };
    const [response] = (await once(get(`${api.base}${path}`, { agent: false, headers }), 'response')) as [
      IncomingMessage,
    ];
    open.push(response);
    const events: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => events.push(event) });
    response.setEncoding('utf8').on('data', (chunk: string) => parser.feed(chunk));
    return { response, events };
  }

  const admin = { key: 'a' };

  async function capture(name: string): Promise<string> {
    const { headers } = await api.call('POST', '/snapshots', { ...admin, body: { name } });
    return headers.location?.slice('/api/v1'.length) ?? '';
  }

  it('tells a client of HTTP/1.0 that the end of the connection is that of the stream', async () => {
    const { hostname, port } = new URL(api.base);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.write(
      'GET /sync/snapshot HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer p\r\nConnection: keep-alive\r\n\r\n',
    );
    await eventually(() => expect(received).to.contain('\r\n\r\n'));
    expect(received)
      .to.match(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is)
      .and.not.match(/transfer-encoding/i);
    socket.destroy();
  });

  it('closes the connection behind HEAD for a client that asks for it', async () => {
    const { hostname, port } = new URL(api.base);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.write(
      'HEAD /sync/snapshot HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer p\r\nConnection: close\r\n\r\n',
    );
    await once(socket, 'end');
    expect(received).to.match(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
  });

  it('begins under both paths, before anything is active', async () => {
    for (const path of ['/sync/snapshot', '/api/v1/sync/snapshot']) {
      const { response, events } = await follow(path);
      expect(response.statusCode).to.equal(200);
      expect(response.headers).to.include({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      expect(response.headers)
        .to.have.property('x-sluice-cluster')
        .that.matches(/^[0-9a-f]+$/);
      expect(events).to.deep.equal([]);
    }
  });

  it('carries each activation with its log index, repeated ones too, and nothing for edits', async () => {
    const { events } = await follow();
    await api.call('POST', '/routes', { ...admin, body: body('routes', 'r') });
    const [first, second] = [await capture('first'), await capture('second')];
    const indexes: unknown[] = [];
    for (const path of [first, second, first, first]) {
      const { headers } = await api.call('POST', `${path}/activate`, admin);
      indexes.push(headers['x-sluice-revision']);
      await eventually(() => expect(events).to.have.length(indexes.length));
    }
    expect(events.map(({ id }) => id)).to.deep.equal(indexes);
    expect(events.map(({ event }) => event)).to.deep.equal(Array(4).fill('snapshot'));
    await api.call('DELETE', second, admin);
    expect(events).to.have.length(4);
  });

  it('carries what GET of the snapshot shows an admin who asks for values, arrays never null', async () => {
    await api.call('POST', '/secrets', { ...admin, body: body('secrets', 's', { id: 's' }) });
    const spec = body('routes', 'r', { directResponse: { status: 200, body: '{{secret:value:s}}' } });
    await api.call('POST', '/routes', { ...admin, body: spec });
    const path = await capture('s');
    await api.call('POST', `${path}/activate`, admin);
    const { events } = await follow();
    await eventually(() => expect(events).to.have.length(1));
    const { json } = await api.call('GET', `${path}?secrets=resolved`, admin);
    expect(JSON.parse(events[0]?.data ?? '')).to.deep.equal(json);
    expect(events[0]?.data).to.contain('CANARY').and.not.contain('null');
  });

  it('loses no activation that happens while a client connects', async () => {
    const path = await capture('s');
    let last = '';
    const activations = (async () => {
      for (let count = 0; count < 50; count++) {
        last = String((await api.call('POST', `${path}/activate`, admin)).headers['x-sluice-revision']);
      }
    })();
    const followers = await Promise.all(Array.from({ length: 10 }, () => follow()));
    await activations;
    for (const { events } of followers) await eventually(() => expect(events.at(-1)?.id).to.equal(last));
  });
});
