import { once } from 'node:events';
import { createServer, get, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Feed } from '../../../src/feed/feed.ts';
import { SnapshotStreams } from '../../../src/feed/sse.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { config } from '../../support/proxy-config.ts';

describe('activation stream', () => {
  let feed: Feed;
  let clock: ManualClock;
  let streams: SnapshotStreams;
  let server: Server;

  beforeEach(async () => {
    feed = new Feed();
    clock = new ManualClock();
    streams = new SnapshotStreams({ source: feed, clock, logger: silentLogger, clusterId: () => 'c-1' });
    server = createServer((_request, response) => streams.attach(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    streams.close();
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  async function connect(): Promise<{
    response: IncomingMessage;
    text: () => string;
    events: () => EventSourceMessage[];
  }> {
    const { port } = server.address() as AddressInfo;
    const [response] = (await once(get({ host: '127.0.0.1', port, agent: false }), 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return { response, text: () => text, events: () => parsed(text) };
  }

  it('ends when the node is cut off from its cluster, and is open again afterwards', async () => {
    const gate = { refusal: undefined as string | undefined, tell: () => {} };
    const subscribe = (tell: () => void) => {
      gate.tell = tell;
      return () => undefined;
    };
    const gated = Object.assign(gate, { subscribe });
    streams.close();
    streams = new SnapshotStreams({ source: feed, clock, logger: silentLogger, clusterId: () => 'c-1', gate: gated });
    const { response } = await connect();
    gate.refusal = 'no leader for 4 s';
    gate.tell();
    await once(response, 'end');
    expect(streams.refusal).to.equal('no leader for 4 s');
    gate.refusal = undefined;
    gate.tell();
    const again = await connect();
    feed.publish(config({ index: 1 }));
    await eventually(() => expect(again.events()).to.have.length(1));
  });

  it('begins with its headers before there is anything to send', async () => {
    const { response, text } = await connect();
    expect(response.statusCode).to.equal(200);
    expect(response.headers).to.include({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
      'x-sluice-cluster': 'c-1',
    });
    expect(text()).to.equal('');
  });

  it('sends the active configuration at once, framed as foreign receivers read it', async () => {
    feed.publish(config({ index: 41, id: 's', name: 'n' }));
    const { text } = await connect();
    const lists = '{"listeners":[],"routes":[],"groups":[],"destinations":[],"middlewares":[]}';
    const data = `{"id":"s","name":"n","createdAt":"2031-07-01T00:00:00.000Z","snapshot":${lists}}`;
    await eventually(() => expect(text()).to.equal(`event: snapshot\nid: 41\ndata: ${data}\n\n`));
  });

  it('sends one event per activation, with the index of the activation as its id', async () => {
    const { events } = await connect();
    for (const index of [3, 5, 9]) {
      feed.publish(config({ index }));
      await eventually(() => expect(events().at(-1)?.id).to.equal(String(index)));
    }
    expect(events().map(({ event }) => event)).to.deep.equal(['snapshot', 'snapshot', 'snapshot']);
  });

  it('shows every 15 seconds that it lives', async () => {
    const { text } = await connect();
    await eventually(() => expect(streams.size).to.equal(1));
    clock.advance(14_999);
    clock.advance(1);
    await eventually(() => expect(text()).to.equal(': keepalive\n\n'));
    clock.advance(15_000);
    clock.advance(15_000);
    await eventually(() => expect(text()).to.equal(': keepalive\n\n'.repeat(3)));
  });

  it('keeps only the newest configuration for a client that does not read', async () => {
    const slow = await connect();
    slow.response.pause();
    const fast = await connect();
    const name = 'x'.repeat(2_000_000);
    for (let index = 1; index <= 20; index++) {
      feed.publish(config({ index, name }));
      await eventually(() => expect(fast.text().slice(-2_100_000)).to.include(`id: ${index}\n`));
    }
    slow.response.resume();
    await eventually(() => expect(slow.events().at(-1)?.id).to.equal('20'));
    expect(slow.events().length).to.be.lessThan(16);
  });

  it('ends without a final event when it closes, and takes no more clients', async () => {
    const { response, text } = await connect();
    const ended = once(response, 'end');
    streams.close();
    await ended;
    expect(text()).to.equal('');
    const late = await connect();
    await once(late.response, 'end');
    expect(streams.size).to.equal(0);
  });

  it('forgets a client that has gone', async () => {
    const { response } = await connect();
    await eventually(() => expect(streams.size).to.equal(1));
    response.destroy();
    await eventually(() => expect(streams.size).to.equal(0));
  });

  it('answers HEAD with the headers alone', async () => {
    const { port } = server.address() as AddressInfo;
    const [response] = (await once(
      request({ host: '127.0.0.1', port, method: 'HEAD', agent: false }).end(),
      'response',
    )) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    expect(response.headers).to.include({ 'content-type': 'text/event-stream' });
    expect(streams.size).to.equal(0);
  });
});

function parsed(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(text);
  return events;
}
