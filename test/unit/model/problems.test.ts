import { expect } from 'chai';
import { parseEntity } from '../../../src/model/validation.ts';
import { forwardTo, groupBody, listenerBody, pointersOf, problemsWith, routeBody } from '../../support/entities.ts';

const parse = (text: string): unknown => JSON.parse(text);

describe('problems of a body', () => {
  it('are all named, each with its pointer', () => {
    const body = {
      port: 0,
      tls: { cert: 'c', maxVersion: 'TLSv1_1' },
      timeouts: { clientHeader: '5', idleBetweenRequests: '-1s' },
      metrics: { path: 'metrics', histograms: { durationBuckets: [1, 1] } },
      trustedProxies: ['10.0.0.0/8', '10.0.0.0/40', 'x'],
      http2: 'yes',
    };
    expect(pointersOf('listeners', body)).to.have.members([
      '/http2',
      '/name',
      '/port',
      '/tls/key',
      '/tls/maxVersion',
      '/timeouts/clientHeader',
      '/timeouts/idleBetweenRequests',
      '/metrics/path',
      '/metrics/histograms/durationBuckets/1',
      '/trustedProxies/1',
      '/trustedProxies/2',
    ]);
  });

  it('give no entity to store', () => {
    expect(parseEntity('listeners', { name: 'a' }).entity).to.deep.equal({});
  });

  it('are at most a hundred', () => {
    const headers = Array.from({ length: 256 }, () => ({}));
    expect(pointersOf('groups', groupBody({ headers }))).to.have.length(100);
    expect(pointersOf('groups', groupBody({ hostnames: Array(100_000).fill(5) }))).to.have.length(100);
    expect(pointersOf('groups', groupBody({ hostnames: Array(100_000).fill('a b') }))).to.have.length(100);
  });

  it('name a value of the wrong type once, and nothing that follows from leaving it out', () => {
    expect(problemsWith('listeners', { name: 5, port: '1' })).to.deep.equal([
      '/name must be a string',
      '/port must be a finite number',
    ]);
    expect(pointersOf('routes', { name: 'r', forward: 5 })).to.deep.equal(['/forward']);
    const entries = [
      { destinationId: 'a', weight: '50' },
      { destinationId: 'b', weight: 50 },
    ];
    expect(pointersOf('routes', { name: 'r', forward: { destinations: entries } })).to.deep.equal([
      '/forward/destinations/0/weight',
    ]);
    expect(pointersOf('routes', { name: 'r', forward: { destinations: [7] } })).to.deep.equal([
      '/forward/destinations/0',
    ]);
  });

  it('name what else is wrong beside a value of the wrong type', () => {
    const body = routeBody({
      forward: { destinations: [{ destinationId: 5 }, { weight: -1 }], mirror: {} },
      match: { pathRegex: '(' },
    });
    expect(pointersOf('routes', body)).to.have.members([
      '/forward/destinations/0/destinationId',
      '/forward/mirror/destinationId',
      '/forward/destinations/1/weight',
      '/match/pathRegex',
    ]);
  });

  it('refuse lists and maps of unreasonable size without looking into them', () => {
    const destinations = Array.from({ length: 1001 }, () => ({ destinationId: 'd' }));
    expect(problemsWith('routes', routeBody({ forward: { destinations } }))).to.deep.equal([
      '/forward/destinations must have at most 1000 entries',
    ]);
    const middlewareOverrides = Object.fromEntries(destinations.map((_, index) => [`m${index}`, {}]));
    expect(problemsWith('routes', routeBody({ middlewareOverrides }))).to.deep.equal([
      '/middlewareOverrides must have at most 1000 entries',
    ]);
  });

  it('set no limit to the host names and routes of a group', () => {
    const hostnames = Array.from({ length: 20_000 }, (_, index) => `h${index}.example.com`);
    const routeIds = Array.from({ length: 20_000 }, (_, index) => `route-${index}`);
    expect(problemsWith('groups', groupBody({ hostnames, routeIds }))).to.deep.equal([]);
  });

  it('do not arise from depth: what no schema knows is not entered', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const { problems, unknown } = parseEntity('listeners', listenerBody({ deep }));
    expect(problems).to.deep.equal([]);
    expect(unknown).to.deep.equal(['/deep']);
  });
});

describe('bodies that aim at prototypes (security.md S31)', () => {
  it('change nothing global and lose the fields', () => {
    const hostile = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}';
    const body = parse(
      `{"name":"r",${hostile},"match":{},"forward":{"destinations":[{"destinationId":"d",${hostile}}]}}`,
    );
    const { entity, problems, unknown } = parseEntity('routes', body);
    expect(problems).to.deep.equal([]);
    expect(entity).to.deep.equal({ name: 'r', match: {}, forward: forwardTo('d') });
    expect(unknown).to.include.members(['/__proto__', '/forward/destinations/0/prototype']);
    const inMatch = parse(`{"name":"r","match":{${hostile}},"redirect":{"path":"/"}}`);
    expect(problemsWith('routes', inMatch)).to.include('/match/__proto__ is not a known field');
    expect({}).not.to.have.property('polluted');
  });

  it('may not use __proto__ as a key of a map', () => {
    const body = parse('{"name":"r","redirect":{"path":"/"},"middlewareOverrides":{"__proto__":{"disabled":true}}}');
    expect(problemsWith('routes', body)).to.deep.equal(['/middlewareOverrides/__proto__ must not be used as a key']);
  });

  it('keep constructor as the key of a map that it is', () => {
    const middlewareOverrides = { constructor: { disabled: true }, toString: { disabled: false } };
    expect(parseEntity('routes', routeBody({ middlewareOverrides })).entity).to.deep.include({ middlewareOverrides });
  });

  it('do not pass inherited values off as sent ones', () => {
    const body = Object.create({ port: 80 }, { name: { value: 'edge', enumerable: true } });
    expect(problemsWith('listeners', body)).to.deep.equal(['/port is required']);
  });

  it('take the last of duplicate keys, as JSON.parse does', () => {
    expect(parseEntity('listeners', parse('{"name":"a","port":1,"name":"b"}')).entity).to.have.property('name', 'b');
  });
});
