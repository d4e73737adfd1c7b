// A proxy's side of the stream against the real API: keys, certificates, acknowledgements (contract.md §1.4, fleet.md §3–§4).

import { expect } from 'chai';
import { Acknowledgements } from '../../src/control-plane-client/acknowledgements.ts';
import { Attempts } from '../../src/control-plane-client/attempts.ts';
import { ControlPlaneLink, type LinkOptions } from '../../src/control-plane-client/control-plane-link.ts';
import { identityHeaders } from '../../src/control-plane-client/proxy-identity.ts';
import { RemoteSource } from '../../src/control-plane-client/remote-source.ts';
import type { FleetView } from '../../src/model/answers/fleet-answers.ts';
import type { ListenerReport } from '../../src/model/answers/proxy-messages.ts';
import { TrafficWindows } from '../../src/model/traffic-windows.ts';
import { systemClock } from '../../src/util/clock.ts';
import { ApiServer, type ServerSetup } from '../support/api-server.ts';
import { ca, client, server, stranger } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { logCapture } from '../support/log-capture.ts';

const keys = (['admin', 'editor', 'proxy'] as const).map((role) => ({ name: role, key: role, role }));

describe('a proxy and its control plane', () => {
  let api: ApiServer;
  let link: ControlPlaneLink;
  let source: RemoteSource;
  let lines: readonly string[];
  let refuse = false;
  let listeners: readonly ListenerReport[] = [];
  const nothing = { requests: 0, serverErrors: 0, clientErrors: 0, proxyErrors: 0, latency: [] };

  afterEach(async () => {
    source.close();
    link.close();
    await api.stop();
    refuse = false;
    listeners = [];
  });

  async function begin(setup: ServerSetup['options'], more: Partial<LinkOptions> = {}): Promise<void> {
    api = await ApiServer.start({ options: { apiKeys: keys, ...setup } });
    const log = logCapture();
    const { logger } = log;
    lines = log.lines;
    const clock = systemClock;
    link = new ControlPlaneLink({ tls: undefined, apiKey: 'proxy', clock, ...more });
    const headers = identityHeaders({ id: 'edge', boot: 'boot', labels: { 'a=b': 'c,d' }, version: '1.2.3' });
    source = new RemoteSource({ link, attempts: new Attempts([api.base], 50, () => 0), headers, clock, logger });
    const acknowledgements = new Acknowledgements({
      link,
      boot: 'boot',
      listeners: () => (listeners.length > 0 ? listeners : [{ id: 'l', state: 'open' }]),
      subjects: () => ({ traffic: { routes: [], destinations: [], hits: [], chains: [] }, delivered: () => {} }),
      traffic: () => new TrafficWindows().report({ stable: nothing, candidate: nothing }),
      isTrying: () => false,
      onContact: () => undefined,
      onUnknownStream: (reason) => source.reconnect(reason),
      clock,
      logger,
    });
    source.observe({
      opened: (stream) => acknowledgements.opened(stream),
      closed: () => acknowledgements.closed(),
      unusable: (problems, place) => acknowledgements.unusable(problems, place),
      tried: (word) => acknowledgements.tried(word),
      confirmed: (arrival) => acknowledgements.settled(arrival, { isLive: true, tookMs: 0 }),
      heard: () => undefined,
      asked: () => undefined,
    });
    source.subscribe(({ order }) => {
      const problems = refuse ? [{ pointer: '/routes/r/match/cel', message: 'no' }] : [];
      const arrival = source.settle(order, { isLive: !refuse, problems });
      if (arrival !== undefined) acknowledgements.settled(arrival, { isLive: !refuse, tookMs: 1 });
    });
    source.start();
  }

  const tls = { ca, ...client };

  async function activate(name: string): Promise<number> {
    const call = { key: 'admin', tls };
    const { headers } = await api.call('POST', '/snapshots', { ...call, body: { name } });
    const path = headers.location?.slice('/api/v1'.length) ?? '';
    const activated = await api.call('POST', `${path}/activate`, call);
    return Number(activated.headers['x-sluice-revision']);
  }

  const proxyInFleet = async () => {
    const { json } = await api.call('GET', '/fleet', { key: 'admin', tls });
    return (json as FleetView).proxies[0];
  };

  it('with a key and a certificate follows, sends its hello, and acknowledges', async () => {
    await begin({ tls: { ...server, ca, clientAuth: 'require' } }, { tls });
    const index = await activate('v1');
    await eventually(async () => {
      const proxy = await proxyInFleet();
      expect(proxy).to.deep.include({ id: 'edge', labels: { 'a=b': 'c,d' }, version: '1.2.3', state: 'current' });
      expect(proxy?.installed).to.deep.equal(proxy?.wanted);
      expect(proxy?.installed?.index).to.equal(index);
      expect(proxy?.listeners).to.deep.equal([{ id: 'l', state: 'open' }]);
    });
  });

  it('reports a refusal with pointers, and a later success', async () => {
    await begin({});
    refuse = true;
    await activate('v1');
    await eventually(async () => {
      const problems = [{ pointer: '/routes/r/match/cel', message: 'no' }];
      expect(await proxyInFleet()).to.deep.include({ state: 'refused', problems, installed: null });
    });
    refuse = false;
    await activate('v2');
    await eventually(async () => expect(await proxyInFleet()).to.deep.include({ state: 'current', problems: [] }));
  });

  it('with more listeners than a message takes is heard, with those that are not open', async () => {
    await begin({});
    const waiting = { id: 'last', state: 'waiting', reason: 'its port is taken' } as const;
    listeners = [
      ...Array.from({ length: 1_200 }, (_, at): ListenerReport => ({ id: `l${at}`, state: 'open' })),
      waiting,
    ];
    await activate('v1');
    await eventually(async () => {
      const proxy = await proxyInFleet();
      expect(proxy).to.have.property('state', 'current');
      expect(proxy?.listeners).to.have.length(1_000).and.deep.include(waiting);
    });
  });

  it('that comes back has nothing sent again, and is current', async () => {
    await begin({});
    await activate('v1');
    await eventually(async () => expect(await proxyInFleet()).to.have.property('state', 'current'));
    const { installed } = source;
    source.reconnect('for a test');
    await eventually(async () => expect(source.stream).to.not.equal(undefined));
    await eventually(async () => expect(await proxyInFleet()).to.have.property('state', 'current'));
    expect(source.installed?.order).to.equal(installed?.order);
  });

  const refused: [string, ServerSetup['options'], Partial<LinkOptions>, RegExp][] = [
    ['without a key', {}, { apiKey: undefined }, /it answered 401/],
    ['with a key of another role', {}, { apiKey: 'editor' }, /it answered 403/],
    ['without trust in its certificate', { tls: { ...server, clientAuth: 'none' } }, {}, /certificate|self.signed/i],
    [
      'with a certificate of a stranger',
      { tls: { ...server, ca, clientAuth: 'require' } },
      { tls: { ca, ...stranger } },
      /alert|ECONNRESET|socket|closed/i,
    ],
  ];

  for (const [name, setup, more, reason] of refused) {
    it(`${name} is refused, logs the reason, and goes on asking`, async () => {
      await begin(setup, more);
      await eventually(() => expect(lines.join('\n')).to.match(reason));
      expect(source.stream).to.equal(undefined);
      const { length } = lines;
      await eventually(() => expect(lines.length).to.be.greaterThan(length));
    });
  }
});
