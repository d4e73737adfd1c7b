// Identity of destinations in two configurations, by the rows in which threads count (fleet.md §7).
import { expect } from 'chai';
import { UpstreamSupervisor } from '../../../../src/proxy/worker/upstream-supervisor.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { KubernetesServer } from '../../../support/kubernetes-server.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('the rows of two configurations', () => {
  let supervisor: UpstreamSupervisor;
  beforeEach(() => {
    supervisor = new UpstreamSupervisor({
      threads: 1,
      clock: new ManualClock(),
      logger: silentLogger,
      findCluster: async () => undefined,
      onDiscovered: () => undefined,
    });
  });
  afterEach(() => supervisor.close());

  const destination = (id: string, port: number) => ({ id, name: id, host: '127.0.0.1', port });
  const install = (role: 'stable' | 'candidate', ...ports: readonly (readonly [string, number])[]) => {
    supervisor.prepare(
      role,
      ports.map(([id, port]) => destination(id, port)),
    );
    const { destinations } = supervisor.rows(role);
    supervisor.follow();
    return Object.fromEntries(destinations);
  };

  it('are one where they are alike, and two where they differ', () => {
    const stable = install('stable', ['a', 1], ['b', 2]);
    const candidate = install('candidate', ['a', 1], ['b', 3], ['c', 4]);
    expect(candidate.a).to.equal(stable.a);
    expect(new Set([stable.a, stable.b, candidate.b, candidate.c])).to.have.length(4);
  });

  it('stay with the candidate when it is promoted, and with what later activations leave as it is', () => {
    install('stable', ['a', 1], ['b', 2]);
    const candidate = install('candidate', ['a', 1], ['b', 3]);
    supervisor.promote();
    expect(install('stable', ['a', 1], ['b', 3])).to.deep.equal(candidate);
    expect(install('stable', ['a', 1], ['b', 9]), 'an activation takes over what it changes').to.deep.equal(candidate);
  });

  it('go with the candidate, and another one gets its own', () => {
    const stable = install('stable', ['a', 1]);
    install('candidate', ['a', 2]);
    supervisor.withdraw();
    const next = install('candidate', ['a', 3]);
    expect(next.a).not.to.equal(stable.a);
    expect(install('stable', ['a', 1])).to.deep.equal(stable);
  });

  it("are the candidate's for an activation that brings what the candidate has", () => {
    install('stable', ['a', 1]);
    const candidate = install('candidate', ['a', 2]);
    expect(install('stable', ['a', 2])).to.deep.equal(candidate);
    supervisor.withdraw();
    expect(Object.fromEntries(supervisor.rows('stable').destinations)).to.deep.equal(candidate);
  });
});

describe('pods that were discovered', () => {
  it('are not those of another service that their destination names next', async () => {
    const server = new KubernetesServer();
    await server.start();
    const ports = [{ name: 'http', port: 8080 }];
    for (const [service, host] of [
      ['cart', '10.0.0.1'],
      ['web', '10.0.0.2'],
    ] as const) {
      server.service('shop', service, { ports: [{ name: 'http', port: 80 }] });
      server.slice('shop', service, service, ports, [{ addresses: [host] }]);
    }
    const supervisor = new UpstreamSupervisor({
      threads: 1,
      clock: systemClock,
      logger: silentLogger,
      findCluster: async () => ({ url: server.url, authorization: async () => undefined, insecure: false }),
      onDiscovered: () => undefined,
    });
    const known = () => supervisor.discoveredBy('stable').get('d');
    const named = (host: string, discovery?: { type: 'kubernetes' }) =>
      supervisor.prepare('stable', [{ id: 'd', name: 'd', host, port: 80, options: { discovery } }]);
    try {
      named('cart.shop', { type: 'kubernetes' });
      supervisor.follow();
      await eventually(() => expect(known()).to.deep.equal([{ host: '10.0.0.1', port: 8080 }]));
      named('web.shop', { type: 'kubernetes' });
      expect(known()).to.equal(undefined);
      supervisor.follow();
      await eventually(() => expect(known()).to.deep.equal([{ host: '10.0.0.2', port: 8080 }]));
      named('web.shop');
      expect(known()).to.equal(undefined);
    } finally {
      await supervisor.close();
      await server.stop();
    }
  });
});
