import { expect } from 'chai';
import { ClusterModel } from '../../../src/controller/cluster-model.ts';
import { gatewayCell } from '../../../src/controller/graph/controller-graph.ts';
import type { GatewayFacts } from '../../../src/controller/graph/facts.ts';
import { parsePool } from '../../../src/controller/publish/gateway-addresses.ts';
import { options } from '../../support/manifests.ts';

function bed(pool = '10.0.0.0/24') {
  const ignore = (): void => {};
  const model = new ClusterModel(
    { ...options, pool: parsePool(pool) ?? options.pool },
    { onStatus: ignore, onEntities: ignore, onGone: ignore, onUnreadable: ignore },
  );
  const { controllerName } = options;
  model.take('GatewayClass', 'sluice', { metadata: { name: 'sluice' }, spec: { controllerName } } as never);
  return {
    gateway: (name: string, { asked = [] as string[], had = [] as string[] } = {}) =>
      model.take('Gateway', `shop/${name}`, {
        metadata: { name, namespace: 'shop', generation: 1 },
        spec: {
          gatewayClassName: 'sluice',
          listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
          addresses: asked.map((value) => ({ type: 'IPAddress', value })),
        },
        status: { addresses: had.map((value) => ({ type: 'IPAddress', value })) },
      } as never),
    remove: (name: string) => model.take('Gateway', `shop/${name}`, undefined),
    addressOf: (name: string) => {
      model.settle();
      const facts = model.factsOf(gatewayCell(`shop/${name}`)) as GatewayFacts;
      return facts.addresses[0] ?? facts.obstacle?.reason;
    },
  };
}

describe('addresses of Gateways', () => {
  it('stay over a restart, though a new Gateway that has none is listed first', () => {
    const { gateway, addressOf } = bed();
    gateway('a-new');
    gateway('web', { had: ['10.0.0.1'] });
    expect(addressOf('web')).to.equal('10.0.0.1');
    expect(addressOf('a-new')).to.equal('10.0.0.2');
  });

  it('stay over a restart, though a new Gateway asks for the same one', () => {
    const { gateway, addressOf } = bed();
    gateway('a-new', { asked: ['10.0.0.1'] });
    gateway('web', { had: ['10.0.0.1'] });
    expect(addressOf('web')).to.equal('10.0.0.1');
    expect(addressOf('a-new')).to.equal('AddressNotUsable');
  });

  it('go to a Gateway that asks for one when the Gateway that had it takes another after a restart', () => {
    const { gateway, addressOf } = bed();
    gateway('a-new', { asked: ['10.0.0.1'] });
    gateway('web', { had: ['10.0.0.1'], asked: ['10.0.0.2'] });
    expect(addressOf('web')).to.equal('10.0.0.2');
    expect(addressOf('a-new')).to.equal('10.0.0.1');
  });

  it('go to a Gateway that waits for one as soon as another gives it up', () => {
    const { gateway, remove, addressOf } = bed('10.0.0.1/32');
    gateway('web');
    gateway('waits');
    expect([addressOf('web'), addressOf('waits')]).to.deep.equal(['10.0.0.1', 'AddressNotUsable']);
    remove('web');
    expect(addressOf('waits')).to.equal('10.0.0.1');
  });
});
