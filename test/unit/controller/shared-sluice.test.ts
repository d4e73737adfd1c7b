// Controllers of two owners on one Sluice, which has one name and one id of each entity.
import { expect } from 'chai';
import { base, manifest, translated } from '../../support/manifests.ts';

const text = `${base}${manifest('HTTPRoute', 'both', '{ parentRefs: [{ name: web, sectionName: http }], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }')}`;

interface Named {
  readonly id: string;
  readonly name: string;
}

const entitiesOf = (owner: string): Named[] =>
  Object.values(translated(text, { owner }).entities).flatMap((each) => each as Named[]);

describe('controllers of two owners', () => {
  it('write entities of different ids and names, though a route is attached to Gateways of both', () => {
    const [one, two] = [entitiesOf('sluice-controller'), entitiesOf('two')];
    expect(one).to.have.length(3);
    for (const field of ['id', 'name'] as const)
      expect(new Set([...one, ...two].map((entity) => entity[field]))).to.have.property('size', 6);
    expect(one.map(({ id }) => id)).to.include('httproute:shop:both:0:0:0');
  });

  it('refer to entities of their own', () => {
    const { routes = [] } = translated(text, { owner: 'two' }).entities;
    expect(routes[0]).to.deep.include({
      listenerIds: ['two:gateway:shop:web:80/http'],
    });
    expect(routes[0]).to.have.nested.property('forward.destinations[0].destinationId', 'two:service:shop:cart:80');
  });
});

describe('an HTTPRoute and a GRPCRoute of one name', () => {
  it('have routes of different names in Sluice', () => {
    const spec =
      '{ parentRefs: [{ name: web, sectionName: http }], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }';
    const { entities } = translated(
      `${base}${manifest('HTTPRoute', 'cart', spec)}${manifest('GRPCRoute', 'cart', spec)}`,
    );
    const names = (entities.routes as Named[]).map(({ name }) => name);
    expect(names).to.have.length(2);
    expect(names[0]).to.not.equal(names[1]);
  });
});
