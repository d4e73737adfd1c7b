// contract.md §4.2 and architecture.md §6.13, over real sockets against a control plane of another make.
import { expect } from 'chai';
import { Attempts } from '../../../src/control-plane-client/attempts.ts';
import { ControlPlaneLink } from '../../../src/control-plane-client/control-plane-link.ts';
import { readSnapshotEvent } from '../../../src/control-plane-client/received-config.ts';
import { RemoteSource } from '../../../src/control-plane-client/remote-source.ts';
import { configDigest } from '../../../src/model/config-digest.ts';
import type { ProxyConfig } from '../../../src/model/proxy-config.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { cookieKeysAfter } from '../../support/cookie-rings.ts';
import { eventually } from '../../support/eventually.ts';
import { logCapture } from '../../support/log-capture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { StreamStub, snapshotData, snapshotEvent } from '../../support/stream-stub.ts';

describe('the stream as a source', () => {
  let stub: StreamStub;
  let clock: ManualClock;
  let link: ControlPlaneLink;
  let source: RemoteSource;
  let seen: ProxyConfig[];
  let refuse: boolean;
  /** Outcomes come when the test says so. */
  let later: boolean;
  let confirmed: number;
  let unusable: string[];
  let logger: Logger;
  let lines: readonly string[];

  beforeEach(async () => {
    stub = await StreamStub.start();
    clock = new ManualClock();
    ({ logger, lines } = logCapture());
    make([stub.url]);
  });

  afterEach(async () => {
    source.close();
    link.close();
    await stub.stop();
  });

  function make(urls: readonly string[]): void {
    link = new ControlPlaneLink({ tls: undefined, apiKey: 'k', clock });
    source = new RemoteSource({
      link,
      attempts: new Attempts(urls, 5_000, () => 0),
      headers: { 'x-sluice-proxy': 'p' },
      clock,
      logger,
    });
    seen = [];
    refuse = false;
    later = false;
    confirmed = 0;
    unusable = [];
    source.observe({
      opened: () => undefined,
      tried: () => undefined,
      closed: () => undefined,
      confirmed: () => void confirmed++,
      unusable: (problems) => unusable.push(...problems.map(({ message }) => message)),
      heard: () => undefined,
      asked: () => undefined,
    });
    source.subscribe((config) => {
      seen.push(config);
      if (!later) source.settle(config.order, { isLive: !refuse, problems: [] });
    });
  }

  const names = (): string[] => seen.map(({ name }) => name);

  /** Everything written so far has been read when the route named `last` has come. */
  async function sees(...expected: string[]): Promise<void> {
    await eventually(() => expect(names()).to.deep.equal(expected));
  }

  it('asks as the contract says', async () => {
    source.start();
    await stub.stream();
    expect(stub.asked[0]).to.have.property('path', '/api/v1/sync/snapshot');
    expect(stub.asked[0]?.headers).to.include({
      accept: 'text/event-stream',
      authorization: 'Bearer k',
      'x-sluice-proxy': 'p',
    });
    expect(stub.asked[0]?.headers).not.to.have.property('x-sluice-has');
  });

  it('reads the full grammar: CR, CRLF, comments, several data lines, other fields and events, pieces of any size', async () => {
    source.start();
    const stream = await stub.stream();
    const [first = '', second = ''] = [snapshotData('a'), snapshotData('ü')].map((text) => text);
    const text =
      `\ufeff: hello\r\nevent:snapshot\r\nid: x-1\r\nretry: 5\r\ncolour: red\r\ndata:${first.slice(0, 20)}\r\n` +
      `data: ${first.slice(20)}\r\n\r\nevent: other\ndata: {}\n\ndata: no name\n\n: keepalive\n\n` +
      `event: snapshot\rdata: ${second}\r\r`;
    for (const byte of Buffer.from(text.replace('\r\ndata: ', '\r\ndata: '))) stream.write(Buffer.of(byte));
    // A line break inside the JSON stands where the data was cut.
    await eventually(() => expect(unusable.length + seen.length).to.equal(2));
    stream.write('event: snapshot\ndata: {}\n\n');
    await eventually(() => expect(unusable).to.include('/snapshot must be an object'));
    expect(names()).to.include('ü');
  });

  it('keeps the stream and what it has when an event cannot be read', async () => {
    source.start();
    const stream = await stub.stream();
    stream.write(`${snapshotEvent('a')}event: snapshot\ndata: {"broken\n\n${snapshotEvent('b')}`);
    await sees('a', 'b');
    expect(unusable).to.deep.equal(['the data is not valid JSON']);
    expect(stub.streams).to.have.length(1);
  });

  it('lets nothing older of one cluster through, on a new stream neither, and everything of another', async () => {
    stub.headers = { 'X-Sluice-Cluster': 'c1' };
    source.start();
    (await stub.stream()).end(snapshotEvent('new', 20));
    await sees('new');
    await eventually(() => expect(source.stream).to.equal(undefined));
    clock.advance(5_000);
    (await stub.stream(2)).write(`${snapshotEvent('old', 19)}${snapshotEvent('newer', 21)}`);
    await sees('new', 'newer');
    stub.headers = { 'X-Sluice-Cluster': 'c2' };
    (await stub.stream(2)).end();
    await eventually(() => expect(source.stream).to.equal(undefined));
    clock.advance(5_000);
    (await stub.stream(3)).write(snapshotEvent('other', 3));
    await sees('new', 'newer', 'other');
    expect(seen.map(({ order }) => order)).to.deep.equal([1, 2, 3]);
    expect(seen.map(({ index }) => index)).to.deep.equal([20, 21, 3]);
  });

  it('has no floor on streams that number nothing, or not by a log', async () => {
    source.start();
    const stream = await stub.stream();
    stream.write(snapshotEvent('a', 'uuid-1') + snapshotEvent('b') + snapshotEvent('a', 'uuid-1'));
    await sees('a', 'b', 'a');
  });

  it('compiles nothing again that it has, but says that it stands elsewhere now', async () => {
    stub.headers = { 'X-Sluice-Cluster': 'c1' };
    source.start();
    const stream = await stub.stream();
    stream.write(snapshotEvent('a', 5) + snapshotEvent('a', 6));
    await eventually(() => expect(confirmed).to.equal(1));
    expect(names()).to.deep.equal(['a']);
    expect(source.installed?.place).to.deep.equal({ clusterId: 'c1', index: 6 });
    const sha256 = source.installed?.sha256;
    stream.write(`event: current\nid: 8\ndata: ${JSON.stringify({ index: 8, id: 's', sha256 })}\n\n`);
    await eventually(() => expect(source.installed?.place?.index).to.equal(8));
    stream.end();
    await eventually(() => expect(source.stream).to.equal(undefined));
    clock.advance(5_000);
    await stub.stream(2);
    expect(stub.asked[1]?.headers['x-sluice-has']).to.equal(`c1 8 ${sha256}`);
  });

  it('tries again what was refused when it comes again', async () => {
    source.start();
    const stream = await stub.stream();
    stream.write(snapshotEvent('a'));
    await sees('a');
    refuse = true;
    stream.write(snapshotEvent('b'));
    await sees('a', 'b');
    expect(source.installed?.config.name).to.equal('a');
    refuse = false;
    stream.write(snapshotEvent('b'));
    await sees('a', 'b', 'b');
    expect(source.installed?.config.name).to.equal('b');
  });

  it('knows what is live when a configuration was overtaken on its way, and the one that overtook it was refused', async () => {
    source.start();
    const stream = await stub.stream();
    stream.write(snapshotEvent('a'));
    await sees('a');
    later = true;
    stream.write(snapshotEvent('b') + snapshotEvent('c'));
    await sees('a', 'b', 'c');
    source.settle(2, { isLive: true, problems: [] });
    source.settle(3, { isLive: false, problems: [] });
    expect(source.installed?.config.name).to.equal('b');
    stream.write(snapshotEvent('a'));
    await sees('a', 'b', 'c', 'a');
  });

  it('is disconnected after 45 s without a byte, and stays connected by keep-alives', async () => {
    source.start();
    const stream = await stub.stream();
    await eventually(() => expect(source.stream).not.to.equal(undefined));
    clock.advance(30_000);
    stream.write(': keepalive\n\n');
    stream.write(snapshotEvent('a'));
    await sees('a');
    clock.advance(40_000);
    expect(source.stream).not.to.equal(undefined);
    clock.advance(6_000);
    await eventually(() => expect(source.stream).to.equal(undefined));
    clock.advance(5_000);
    await stub.stream(2);
  });

  it('comes back after an answer that is not 200, and after a control plane that was away', async () => {
    stub.status = 503;
    source.start();
    await eventually(() => expect(stub.asked).to.have.length(1));
    await eventually(() => expect(lines.at(-1)).to.contain('it answered 503'));
    const { port } = stub;
    await stub.stop();
    clock.advance(5_000);
    await eventually(() => expect(lines.at(-1)).to.contain('ECONNREFUSED'));
    stub = await StreamStub.start(port);
    clock.advance(5_000);
    (await stub.stream()).write(snapshotEvent('a'));
    await sees('a');
  });

  // It was followed until it ended, and the log said no more than that.
  it('does not follow what is no event stream, and says what it is', async () => {
    stub.headers = { 'Content-Type': 'text/html; charset=utf-8' };
    source.start();
    await eventually(() => expect(lines.join()).to.contain('it answered with text/html; charset=utf-8 and not'));
    expect(source.stream).to.equal(undefined);
    expect(lines.join()).not.to.contain('connected to the control plane');
    stub.headers = { 'Content-Type': 'Text/Event-Stream ; charset=utf-8' };
    clock.advance(5_000);
    (await stub.stream(2)).write(snapshotEvent('a'));
    await sees('a');
  });

  it('says where it is sent to, without what may be secret about it', async () => {
    stub.status = 302;
    stub.headers = { Location: '/login?ticket=s3cret' };
    source.start();
    await eventually(() => expect(lines.join()).to.contain(`it answered 302, Location ${stub.url}/login"`));
  });

  // Two lines per attempt, for ever.
  it('says of streams that end at once how often that was whenever it has doubled, and when one lasts', async () => {
    source.close();
    link.close();
    const told: string[] = [];
    const tell = (fields: object, message: string): void => {
      const { failures = 1 } = fields as { failures?: number };
      told.push(`${message.split(' ', 1)} ${failures}`);
    };
    logger = { ...logger, info: tell, warn: tell };
    make([stub.url]);
    source.start();
    for (let count = 1; count <= 20; count++) {
      await eventually(() => expect(source.stream).not.to.equal(undefined));
      (await stub.stream(count)).end();
      await eventually(() => expect(source.stream).to.equal(undefined));
      clock.advance(5_000);
    }
    await eventually(() => expect(source.stream).not.to.equal(undefined));
    const doubled = ['connected 1', 'no 1', 'no 2', 'no 4', 'no 8', 'no 16'];
    expect(told).to.deep.equal(doubled);
    clock.advance(10_000);
    expect(told).to.deep.equal([...doubled, 'connected 1']);
    (await stub.stream(21)).end();
    await eventually(() => expect(told).to.deep.equal([...doubled, 'connected 1', 'no 1']));
  });

  it('goes on to the next of several control planes at once', async () => {
    const second = await StreamStub.start();
    try {
      source.close();
      link.close();
      make([stub.url, second.url]);
      stub.status = 500;
      source.start();
      (await second.stream()).write(snapshotEvent('a'));
      await sees('a');
      source.close();
    } finally {
      await second.stop();
    }
  });

  it('takes the candidate as its configuration when it is told that it is current, and asks for nothing', async () => {
    stub.headers = { 'X-Sluice-Cluster': 'c1' };
    source.start();
    const stream = await stub.stream();
    stream.write(snapshotEvent('stable', 3));
    await sees('stable');
    const tried = JSON.parse(snapshotData('tried')) as { snapshot: object };
    const head = { rollout: 'r', share: 10, by: 'client', key: { clientIp: true }, deadmanMs: 60_000 };
    stream.write(`event: candidate\nid: 5\ndata: ${JSON.stringify({ ...head, ...tried })}\n\n`);
    const current = { index: 9, id: 'snapshot-tried', sha256: configDigest(tried.snapshot) };
    stream.write(`event: current\nid: 9\ndata: ${JSON.stringify(current)}\n\n`);
    await sees('stable', 'tried');
    const { config } = source.candidates.held?.received ?? {};
    expect(seen[1]).to.include({ index: 9, snapshot: config?.snapshot });
    expect(source.installed).to.deep.include({ place: { clusterId: 'c1', index: 9 }, sha256: current.sha256 });
    expect(readSnapshotEvent(source.installed?.data ?? '')).to.deep.include({ sha256: current.sha256 });
    stream.write('event: withdraw\nid: 9\ndata: {"rollout":"r"}\n\n');
    await eventually(() => expect(source.candidates.rollout).to.equal(undefined));
    expect(source.stream).to.not.equal(undefined);
  });

  it('says on whose behalf a configuration came, and not for a copy of it', async () => {
    const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const traced = (name: string): string => `${snapshotData(name).slice(0, -1)},"trace":"${trace}"}`;
    source.begin(readSnapshotEvent(traced('kept')), { clusterId: 'c1', index: 50 }, traced('kept'));
    stub.headers = { 'X-Sluice-Cluster': 'c1' };
    source.start();
    (await stub.stream()).write(`event: snapshot\nid: 51\ndata: ${traced('next')}\n\n`);
    await sees('kept', 'next');
    expect(seen.map((config) => config.trace)).to.deep.equal([undefined, trace]);
  });

  it('begins with a copy as the floor, which a cluster of another id does not know', async () => {
    const data = snapshotData('kept');
    source.begin(readSnapshotEvent(data), { clusterId: 'c1', index: 50 }, data);
    expect(names()).to.deep.equal(['kept']);
    stub.headers = { 'X-Sluice-Cluster': 'c1' };
    source.start();
    (await stub.stream()).end(snapshotEvent('lagging', 49));
    await eventually(() => expect(lines.join()).to.contain('is passed over: the control plane lags'));
    stub.headers = { 'X-Sluice-Cluster': 'c2' };
    await eventually(() => expect(source.stream).to.equal(undefined));
    clock.advance(5_000);
    (await stub.stream(2)).write(snapshotEvent('other', 1));
    await sees('kept', 'other');
  });

  it('takes keys of cookies from a copy and from the stream, never older or broken ones, and none of another cluster', async () => {
    const data = snapshotData('kept');
    const told: number[] = [];
    const event = (index: number, keys: unknown = cookieKeysAfter(index).keys): string =>
      `event: cookieKeys\nid: ${index}\ndata: ${JSON.stringify({ index, keys })}\n\n`;
    source.begin(readSnapshotEvent(data), { clusterId: 'c1', index: 50 }, data, cookieKeysAfter(2));
    source.cookieKeys.subscribe(({ index }) => told.push(index));
    stub.headers = { 'X-Sluice-Cluster': 'c1' };
    source.start();
    const stream = await stub.stream();
    stream.write(event(1) + event(3) + event(8, [{ key: 'short', madeAt: 1 }]) + event(9, 'none') + event(4));
    await eventually(() => expect(told).to.deep.equal([2, 3, 4]));
    expect(source.cookieKeys.current).to.deep.equal(cookieKeysAfter(4));
    stub.headers = { 'X-Sluice-Cluster': 'c2' };
    stream.end();
    await eventually(() => expect(source.stream).to.equal(undefined));
    clock.advance(5_000);
    (await stub.stream(2)).write(event(1));
    await eventually(() => expect(told).to.deep.equal([2, 3, 4, 0, 1]));
  });
});
