import { expect } from 'chai';
import { kinds } from '../../../src/model/kinds.ts';
import { parseEntity } from '../../../src/model/validation.ts';
import {
  destinationBody,
  forwardTo,
  groupBody,
  listenerBody,
  middlewareBody,
  pointersOf,
  problemsWith,
  routeBody,
} from '../../support/entities.ts';

const pinned = (cookie: unknown) =>
  destinationBody({ options: { endpointBalancing: { algorithm: 'STICKY', sticky: { cookie } } } });

describe('JSON rules (contract.md §0.2)', () => {
  describe('J3: the body is an object', () => {
    for (const kind of kinds) {
      it(`refuses everything else for ${kind}`, () => {
        for (const body of [undefined, null, [], [{}], 'x', '', 5, true]) {
          expect(problemsWith(kind, body)).to.deep.equal([' must be a JSON object']);
        }
      });
    }
  });

  describe('J4: null is absent', () => {
    it('at the top and below', () => {
      const body = routeBody({ id: null, match: null, redirect: null, middlewareIds: null, middlewareOverrides: null });
      expect(parseEntity('routes', body).entity).to.deep.equal({ ...routeBody(), match: {} });
      const nested = destinationBody({ endpoints: null, options: { timeouts: { connect: null }, tls: null } });
      expect(parseEntity('destinations', nested).entity).to.deep.equal(destinationBody({ options: { timeouts: {} } }));
    });

    it('among the values of a map', () => {
      const block = { path: 'stdout', onRequest: { fields: { a: null, b: 'x' } } };
      expect(parseEntity('middlewares', middlewareBody('accessLog', block)).entity).to.deep.equal(
        middlewareBody('accessLog', { path: 'stdout', onRequest: { fields: { b: 'x' } } }),
      );
    });

    it('in a required field is missing', () => {
      expect(problemsWith('listeners', { name: 'a', port: null })).to.deep.equal(['/port is required']);
    });

    it('is no element of a list', () => {
      expect(problemsWith('groups', groupBody({ hostnames: ['a', null] }))).to.deep.equal([
        '/hostnames/1 must be a string',
      ]);
    });
  });

  describe('J5: an empty text', () => {
    it('is absent in an optional text, id, enum or duration', () => {
      const body = listenerBody({
        id: '',
        address: '',
        serverName: '',
        proxyErrors: '',
        pathNormalization: '',
        timeouts: { clientHeader: '' },
      });
      expect(parseEntity('listeners', body).entity).to.deep.equal({
        name: 'edge',
        address: '0.0.0.0',
        port: 8080,
        timeouts: {},
      });
      expect(parseEntity('destinations', pinned({ name: '', ttl: '' })).entity).to.deep.equal(pinned({}));
      const jwt = { issuer: 'i', jwksInline: '{}', jwksPath: '', jwksDestinationId: '' };
      expect(problemsWith('middlewares', middlewareBody('jwt', jwt))).to.deep.equal([]);
    });

    it('is refused in a required one', () => {
      expect(problemsWith('listeners', listenerBody({ name: '' }))).to.deep.equal(['/name must not be empty']);
      expect(problemsWith('destinations', destinationBody({ host: '' }))).to.deep.equal(['/host must not be empty']);
      expect(problemsWith('routes', routeBody({ forward: forwardTo('') }))).to.deep.equal([
        '/forward/destinations/0/destinationId is required where there is no directResponse',
      ]);
      expect(problemsWith('middlewares', { name: 'm', type: '' })).to.deep.equal(['/type must not be empty']);
      expect(problemsWith('secrets', { name: 's', value: '' })).to.deep.equal(['/value must not be empty']);
    });

    it('is refused as an element of a list', () => {
      expect(pointersOf('routes', routeBody({ match: { methods: ['GET', ''] } }))).to.deep.equal(['/match/methods/1']);
    });

    it('is a value where the contract says so', () => {
      const body = routeBody({
        forward: { ...forwardTo('d'), rewrite: { pathRegex: { pattern: '^/x', substitution: '' } } },
      });
      expect(parseEntity('routes', body).entity).to.deep.equal({ ...body, match: {} });
    });

    it('is a wrong type in a field that holds no text', () => {
      expect(pointersOf('listeners', listenerBody({ http2: '', tls: '' }))).to.have.members(['/http2', '/tls']);
    });
  });

  describe('J6 as architecture.md §6.10 changes it: unknown fields', () => {
    it('are left out and named by pointer, at any depth', () => {
      const body = routeBody({
        colour: 1,
        forward: { destinations: [{ destinationId: 'd', 'a/b~c': {} }], retry: { tries: 3 } },
      });
      const { entity, problems, unknown } = parseEntity('routes', body);
      expect(problems).to.deep.equal([]);
      expect(unknown).to.have.members(['/colour', '/forward/destinations/0/a~1b~0c', '/forward/retry/tries']);
      expect(JSON.stringify(entity)).not.to.match(/colour|a\/b|tries/);
    });

    it('are named up to a hundred times', () => {
      const extra = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, index]));
      expect(parseEntity('groups', groupBody(extra)).unknown).to.have.length(100);
    });

    it('are told apart by case (J9)', () => {
      const { entity, unknown } = parseEntity('listeners', listenerBody({ HTTP2: true, Address: '::' }));
      expect(unknown).to.deep.equal(['/HTTP2', '/Address']);
      expect(entity).to.deep.equal({ name: 'edge', address: '0.0.0.0', port: 8080 });
    });
  });

  describe('J7: nothing is coerced', () => {
    const wrong: readonly [field: string, value: unknown][] = [
      ['port', '8080'],
      ['port', true],
      ['port', [80]],
      ['http2', 'true'],
      ['http2', 1],
      ['serverName', 5],
      ['tls', []],
      ['tls', 'x'],
      ['timeouts', 5],
      ['trustedProxies', '10.0.0.0/8'],
      ['trustedProxies', { 0: '10.0.0.0/8', length: 1 }],
      ['name', ['edge']],
      ['id', 7],
      ['proxyErrors', 5],
    ];
    for (const [field, value] of wrong) {
      it(`refuses ${JSON.stringify(value)} for ${field}`, () => {
        expect(pointersOf('listeners', listenerBody({ [field]: value }))).to.deep.equal([`/${field}`]);
      });
    }
  });

  describe('J8: a uint', () => {
    const capped = (value: unknown) => destinationBody({ options: { maxConnsPerHost: value } });

    for (const value of [0, 1, 4_294_967_295]) {
      it(`may be ${value}`, () => expect(problemsWith('destinations', capped(value))).to.deep.equal([]));
    }
    for (const value of [-1, 0.5, 4_294_967_296, 1e300, Number.POSITIVE_INFINITY]) {
      it(`may not be ${value}`, () => {
        expect(pointersOf('destinations', capped(value))).to.deep.equal(['/options/maxConnsPerHost']);
      });
    }
  });

  describe('J10: what is stored is what was sent', () => {
    it('without defaults', () => {
      const body = destinationBody({ options: { healthCheck: { path: '/h' }, tls: {}, outlierDetection: {} } });
      expect(parseEntity('destinations', body).entity).to.deep.equal(body);
    });

    it('except the address of a listener, the match of a route and the routes of a group', () => {
      expect(parseEntity('listeners', listenerBody()).entity).to.have.property('address', '0.0.0.0');
      expect(parseEntity('routes', routeBody()).entity).to.deep.include({ match: {} });
      expect(parseEntity('groups', groupBody({ routeIds: null })).entity).to.deep.include({ routeIds: [] });
    });

    it('with an explicit address kept', () => {
      expect(parseEntity('listeners', listenerBody({ address: '::1' })).entity).to.have.property('address', '::1');
    });

    it('with its keys in the order of the schema, for any order in the body', () => {
      const { entity } = parseEntity('listeners', { http2: true, port: 1, name: 'n', id: 'i', address: '::' });
      expect(Object.keys(entity)).to.deep.equal(['id', 'name', 'address', 'port', 'http2']);
    });

    it('with the keys of maps in the order they came in', () => {
      const fields = { z: '1', a: '2', m: '3' };
      const { entity } = parseEntity('middlewares', middlewareBody('accessLog', { path: 'x', onResponse: { fields } }));
      expect(JSON.stringify(entity)).to.contain('{"z":"1","a":"2","m":"3"}');
    });

    it('with repeated ids collapsed to the first', () => {
      const ids = ['b', 'a', 'b', 'c', 'a'];
      const once = ['b', 'a', 'c'];
      expect(parseEntity('routes', routeBody({ middlewareIds: ids })).entity).to.deep.include({ middlewareIds: once });
      expect(parseEntity('groups', groupBody({ routeIds: ids, middlewareIds: ids })).entity).to.deep.include({
        routeIds: once,
        middlewareIds: once,
      });
    });

    it('but points at repeated ids where they were sent', () => {
      expect(pointersOf('groups', groupBody({ routeIds: ['a', 'a', 'no id'] }))).to.deep.equal(['/routeIds/2']);
    });

    it('with the short form of proxyErrors spelled out', () => {
      expect(parseEntity('listeners', listenerBody({ proxyErrors: 'full' })).entity).to.deep.include({
        proxyErrors: { detail: 'full' },
      });
    });

    it('as plain JSON that shares nothing with the body', () => {
      const body = routeBody({ match: { methods: ['GET'] } });
      const { entity } = parseEntity('routes', body);
      expect(entity.match).not.to.equal(body.match);
      expect(JSON.parse(JSON.stringify(entity))).to.deep.equal(entity);
      expect(Object.getPrototypeOf(entity.match)).to.equal(Object.prototype);
    });
  });
});
