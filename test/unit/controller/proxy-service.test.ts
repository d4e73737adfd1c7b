// Gateways whose addresses are those of the Service by which clients reach the proxies.
import { expect } from 'chai';
import { ClusterModel } from '../../../src/controller/cluster-model.ts';
import { parseControllerSettings } from '../../../src/controller/controller-settings.ts';
import { gatewayCell } from '../../../src/controller/graph/controller-graph.ts';
import type { GatewayFacts } from '../../../src/controller/graph/facts.ts';

const service = (spec: object, ingress?: readonly object[]) => ({
  metadata: { name: 'edge', namespace: 'proxies' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80, targetPort: 8081 }], ...spec },
  ...(ingress && { status: { loadBalancer: { ingress } } }),
});

function bed() {
  const { controller } = parseControllerSettings('service: proxies/edge', {});
  const ignore = (): void => {};
  const model = new ClusterModel(controller, {
    onStatus: ignore,
    onEntities: ignore,
    onGone: ignore,
    onUnreadable: ignore,
  });
  model.take('GatewayClass', 'sluice', {
    metadata: { name: 'sluice' },
    spec: { controllerName: 'sluice.dev/gateway-controller' },
  } as never);
  const facts = (): GatewayFacts => {
    model.settle();
    return model.factsOf(gatewayCell('shop/web')) as GatewayFacts;
  };
  return {
    model,
    facts,
    gateway: (spec: object = {}, port = 80) =>
      model.take('Gateway', 'shop/web', {
        metadata: { name: 'web', namespace: 'shop', generation: 1 },
        spec: { gatewayClassName: 'sluice', listeners: [{ name: 'http', port, protocol: 'HTTP' }], ...spec },
      } as never),
    service: (object: object) => model.take('Service', 'proxies/edge', object as never),
  };
}

describe('addresses of Gateways from a Service', () => {
  it('are those of its load balancer, and listeners listen on its target ports', () => {
    const { gateway, service: put, facts, model } = bed();
    gateway();
    put(service({}, [{ ip: '192.0.2.7' }, { hostname: 'lb.example.com' }]));
    const { publicAddresses, obstacle } = facts();
    expect(obstacle).to.equal(undefined);
    expect(publicAddresses).to.deep.equal([
      { type: 'IPAddress', value: '192.0.2.7' },
      { type: 'Hostname', value: 'lb.example.com' },
    ]);
    const entity = model.entities.get('listeners/gateway:shop:web:80')?.entity;
    expect(entity?.body).to.include({ address: '0.0.0.0', port: 8081 });
  });

  it('are awaited while the load balancer has none, and follow it', () => {
    const { gateway, service: put, facts } = bed();
    gateway();
    put(service({}));
    expect(facts().obstacle).to.include({ type: 'Programmed', status: 'False', reason: 'AddressNotAssigned' });
    put(service({}, [{ ip: '192.0.2.7' }]));
    expect(facts().obstacle).to.equal(undefined);
    put(service({}, [{ ip: '192.0.2.8' }]));
    expect(facts().publicAddresses.map(({ value }) => value)).to.deep.equal(['192.0.2.8']);
  });

  it('are its external ones or the one in the cluster where it is no load balancer', () => {
    const { gateway, service: put, facts } = bed();
    gateway();
    put(service({ type: 'ClusterIP', clusterIP: '10.96.0.9' }));
    expect(facts().publicAddresses.map(({ value }) => value)).to.deep.equal(['10.96.0.9']);
    put(service({ type: 'ClusterIP', clusterIP: '10.96.0.9', externalIPs: ['192.0.2.1'] }));
    expect(facts().publicAddresses.map(({ value }) => value)).to.deep.equal(['192.0.2.1']);
  });

  it('cannot be others, and a listener cannot have a port that the Service has not', () => {
    const { gateway, service: put, facts } = bed();
    put(service({ ports: [{ port: 80, targetPort: 'http' }] }, [{ ip: '192.0.2.7' }]));
    gateway({ addresses: [{ type: 'IPAddress', value: '192.0.2.8' }] });
    expect(facts().obstacle).to.include({ reason: 'AddressNotUsable' });
    const [named] = facts().listeners;
    expect(named?.conditions[0]).to.include({ type: 'Accepted', status: 'False', reason: 'PortUnavailable' });
    put(service({}, [{ ip: '192.0.2.7' }]));
    gateway({}, 81);
    const [listener] = facts().listeners;
    expect(listener?.conditions[0]).to.include({ type: 'Accepted', status: 'False', reason: 'PortUnavailable' });
    expect(listener?.isServing).to.equal(false);
  });

  it('and a pool of addresses exclude each other', () => {
    const both = 'service: proxies/edge\naddressPool: 10.0.0.0/24';
    expect(() => parseControllerSettings(both, {})).to.throw('service and addressPool exclude each other');
    expect(() => parseControllerSettings('service: edge', {})).to.throw('must be the namespace and the name');
  });
});
