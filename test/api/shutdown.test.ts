import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { rejection } from '../support/rejection.ts';

// architecture.md §7.10: /readyz 503 → streams end → no new connections → requests in flight finish → done.
describe('shutdown', () => {
  let api: ApiServer;

  afterEach(() => api.stop());

  const open = async (path: string): Promise<{ request: ClientRequest; response: IncomingMessage }> => {
    const request = get(`${api.base}${path}`, { agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { request, response };
  };

  it('ends the streams without a final event', async () => {
    api = await ApiServer.start();
    const { response } = await open('/sync/snapshot');
    let text = '';
    response.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    const ended = once(response, 'end');
    await api.api.close();
    await ended;
    expect(text).to.equal('');
  });

  it('finishes a request in flight, then closes its connection, and takes no new one', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The clock stands still later on, so nothing but the end of the request can close its connection.
    const clock = new ManualClock();
    const checkConfig = () => held.then(() => ({ problems: [], warnings: [] }));
    api = await ApiServer.start({ clock, checkConfig });
    let isOpen = true;
    const inFlight = api.call('POST', '/snapshots', { body: { name: 's' } }).finally(() => {
      isOpen = false;
    });
    await eventually(async () => expect((await api.call('GET', '/snapshots')).status).to.equal(200));
    const { base } = api;
    const closed = api.api.close();
    const refused = await eventually(async () =>
      rejection(call(base, 'GET', '/healthz', { headers: { connection: 'close' } })),
    );
    expect(refused).to.have.property('code').that.is.oneOf(['ECONNREFUSED', 'ECONNRESET']);
    expect(isOpen).to.equal(true);
    clock.advance(200);
    release();
    const answer = await inFlight;
    expect(answer.status).to.equal(201);
    expect(answer.headers.connection).to.equal('close');
    await closed;
  });

  it('answers what an open connection asks while it closes, and ends the connection with the answer', async () => {
    const clock = new ManualClock();
    api = await ApiServer.start({ clock });
    const socket = connect(api.api.address.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const ask = () => socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    ask();
    await eventually(() => expect(text).to.match(/"status":"ok"/));
    text = '';
    const closed = api.api.close();
    await new Promise((resolve) => setImmediate(resolve));
    ask();
    await once(socket, 'close');
    expect(text)
      .to.match(/^HTTP\/1.1 200 /)
      .and.to.match(/\r\nconnection: close\r\n/i);
    clock.advance(200);
    await closed;
  });

  it('answers an activation that waits for proxies with what there is by then', async () => {
    api = await ApiServer.start();
    const { json } = await api.call('POST', '/snapshots', { body: { name: 's' } });
    const { id } = json as { id: string };
    const activation = api.call('POST', `/snapshots/${id}/activate?wait=5&timeout=60s`);
    await eventually(async () => expect((await api.call('GET', '/activations')).json).to.have.length(1));
    await api.api.close();
    const answer = await activation;
    expect(answer.status).to.equal(200);
    expect(answer.json).to.deep.include({ id, active: true });
    expect(answer.json).to.have.nested.property('convergence.wanted', 5);
  });

  it('waits at most five seconds for any client', async () => {
    const clock = new ManualClock();
    api = await ApiServer.start({ clock, checkConfig: () => new Promise(() => undefined) });
    const inFlight = rejection(api.call('POST', '/snapshots', { body: { name: 's' } }));
    const silent = connect(api.api.address.port, '127.0.0.1');
    await once(silent, 'connect');
    await eventually(async () => expect((await api.call('GET', '/snapshots')).status).to.equal(200));
    let done = false;
    const closed = api.api.close().then(() => {
      done = true;
    });
    clock.advance(4_999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).to.equal(false);
    clock.advance(1);
    await closed;
    expect(await inFlight).to.be.instanceOf(Error);
    silent.destroy();
  });

  it('reports not ready, and why, before it stops accepting', async () => {
    let ready = true;
    api = await ApiServer.start({ health: () => ({ ready, reason: 'no leader' }) });
    expect(await api.call('GET', '//readyz')).to.include({ status: 200 });
    ready = false;
    const { status, json } = await api.call('GET', '//readyz');
    expect({ status, json }).to.deep.equal({ status: 503, json: { error: 'not ready: no leader' } });
    expect(await api.call('GET', '//healthz')).to.include({ status: 200 });
  });

  it('may be asked for twice', async () => {
    api = await ApiServer.start();
    await Promise.all([api.api.close(), api.api.close()]);
    await api.api.close();
  });
});
