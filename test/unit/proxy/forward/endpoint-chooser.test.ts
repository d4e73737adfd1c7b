import { expect } from 'chai';
import { EndpointChooser } from '../../../../src/proxy/forward/endpoint-chooser.ts';
import type { Sessions } from '../../../../src/proxy/forward/sessions.ts';
import type { Endpoint } from '../../../../src/proxy/upstream/endpoint-group.ts';
import type { Placements, Targets } from '../../../../src/proxy/upstream/session/placements.ts';
import type { Upstream } from '../../../../src/proxy/upstream/upstreams.ts';

const up = { up: true } as Placements;

describe('a store of sessions', () => {
  it('is asked for a client that carries a session to one of several endpoints, and for no other', () => {
    const asked = (
      { algorithm = 'STICKY', count = 2, carried = 's', signed = undefined as object | undefined },
      placements: Placements | undefined = up,
    ) => {
      const sessions = { carried: () => carried } as unknown as Sessions;
      const upstream = { balancing: { algorithm, cookie: { name: 'pin' } }, group: { set: { count } }, signed };
      return new EndpointChooser(sessions).usesStore(upstream as unknown as Upstream, placements);
    };
    expect(asked({})).to.equal(true);
    expect(asked({ count: 1 }), 'one endpoint').to.equal(false);
    expect(asked({ algorithm: 'ROUND_ROBIN' }), 'another algorithm').to.equal(false);
    expect(asked({ carried: '' }), 'a new client').to.equal(false);
    expect(asked({ signed: {} }), 'a signed cookie').to.equal(false);
    expect(asked({}, { up: false } as Placements), 'a store that is away').to.equal(false);
  });

  it('that answers once the next request is under way places no session by the key of that one', () => {
    let targets: Targets<Endpoint> | undefined;
    const placements = {
      find: (_key: string, _ttl: number, given: Targets<Endpoint>) => {
        targets = given;
      },
    } as unknown as Placements;
    const sessions = { carried: () => 's' } as unknown as Sessions;
    const endpoint = { name: 'a' } as Endpoint;
    const group = { available: 1, balancer: { keyed: false }, pick: () => endpoint };
    const upstream = { id: 'd', balancing: { cookie: { name: 'pin', ttlSeconds: 60 } }, group } as unknown as Upstream;
    const chooser = new EndpointChooser(sessions);
    chooser.chooseByStore(upstream, placements, () => {});
    expect(targets?.byHash()).to.equal(endpoint);
    chooser.clear();
    expect(targets?.byHash()).to.equal(undefined);
  });

  it('is not asked again after an attempt that failed', () => {
    const sessions = { carried: () => 's' } as unknown as Sessions;
    const chooser = new EndpointChooser(sessions);
    const upstream = { balancing: { algorithm: 'STICKY', cookie: { name: 'pin' } }, group: { set: { count: 2 } } };
    chooser.tried({ name: 'a' } as Endpoint);
    expect(chooser.usesStore(upstream as unknown as Upstream, up)).to.equal(false);
    chooser.clear();
    expect(chooser.usesStore(upstream as unknown as Upstream, up)).to.equal(true);
  });
});
