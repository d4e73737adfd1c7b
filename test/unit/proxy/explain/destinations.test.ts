// Explanation of the destination and endpoint that a request would get, and of why not the others.
import { expect } from 'chai';
import type { ExplainedDestination } from '../../../../src/model/answers/explained-outcome.ts';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { compile } from '../../../../src/proxy/compile/compile.ts';
import { explain } from '../../../../src/proxy/explain/explain.ts';
import type { KnownEndpoint } from '../../../../src/proxy/explain/explained-destination.ts';
import { type KnownStates, nothingKnown } from '../../../../src/proxy/explain/explained-destination.ts';
import { CookieRing } from '../../../../src/proxy/shared/cookie-ring.ts';
import { built } from '../../../../src/proxy/upstream/balance/hash-ring.ts';
import { placementMark } from '../../../../src/proxy/upstream/session/placements.ts';
import { SignedCookies, signedLevel } from '../../../../src/proxy/upstream/session/signed-cookies.ts';
import { cookieKeysAfter } from '../../../support/cookie-rings.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const endpoints = [1, 2, 3].map((i) => ({ host: `10.0.0.${i}`, port: 8080 }));

function explained(
  options: object,
  {
    headers = {},
    known = {},
    forward = {},
    destination = {},
  }: {
    headers?: Record<string, string>;
    known?: Partial<KnownStates>;
    forward?: object;
    destination?: object;
  } = {},
) {
  const configuration: Configuration = {
    listeners: [],
    destinations: ['dest-1', 'canary'].map((id) => ({
      id,
      name: id,
      host: 'x',
      port: 1,
      endpoints,
      options,
      ...destination,
    })),
    routes: [{ id: 'route-1', name: 'r', forward: { destinations: [{ destinationId: 'dest-1' }], ...forward } }],
    groups: [],
    middlewares: [],
  };
  const { table } = compile(configuration, { canRun: () => true });
  if (table === undefined) throw new Error('the table must compile');
  const question = { method: 'GET', url: '/', headers, clientIp: '127.0.0.1' };
  return built(explain(table, configuration.destinations, question, { ...nothingKnown, ...known }));
}

/** Returns the choice within the first destination. */
const choice = (...given: Parameters<typeof explained>) =>
  explained(...given).choice?.destinations[0] as ExplainedDestination | undefined;

const balancing = (algorithm: string, more: object = {}) => ({ endpointBalancing: { algorithm, ...more } });
const byUser = { hashPolicy: [{ header: { name: 'X-User' } }, { cookie: { name: 'pin' } }] };

describe('explain, of destinations', () => {
  it('tells the endpoint of a hash key, and the key', () => {
    const headers = { 'x-user': 'user-0' };
    expect(choice(balancing('RING_HASH', { ringHash: byUser }), { headers })).to.include({
      algorithm: 'RING_HASH',
      hashed: 'user-0:dest-1',
      key: 1259690241,
      endpoint: '10.0.0.3:8080',
    });
    expect(choice(balancing('MAGLEV', { maglev: byUser }), { headers })?.endpoint).to.equal('10.0.0.1:8080');
    const unsettled = choice(balancing('RING_HASH', { ringHash: byUser }));
    expect(unsettled).to.include({ endpoint: null });
    expect(unsettled).not.to.have.property('hashed');
    expect(choice({})).to.include({ algorithm: 'ROUND_ROBIN', endpoint: null, available: true });
  });

  it('tells where a signed cookie leads, or what is wrong with it', () => {
    const ring = new CookieRing();
    const signed = new SignedCookies(ring, new ManualClock());
    const sticky = { sticky: { cookie: { name: 'p', signed: true } } };
    const options = balancing('STICKY', sticky);
    const forward = {
      destinations: ['dest-1', 'canary'].map((destinationId) => ({ destinationId, weight: 1 })),
      destinationBalancing: { algorithm: 'STICKY', ...sticky },
    };
    const pin = '0123456789abcdef0123456789abcdef';
    const asked = (cookie: string, known: Partial<KnownStates> = { signed }) => {
      const { choice: made } = explained(options, { forward, known, headers: cookie === '' ? {} : { cookie } });
      const at = made?.destinations[0] as ExplainedDestination | undefined;
      return [made?.destination ?? null, at?.cookie, at?.endpoint, at?.hashed];
    };
    const byHash = '10.0.0.1:8080';
    expect(asked(`p=${pin}`)).to.deep.equal([null, 'unkeyed', byHash, `${pin}:dest-1`]);
    expect(asked(`p=${pin}`, {})).to.deep.equal([null, 'unkeyed', byHash, `${pin}:dest-1`]);
    ring.write(cookieKeysAfter(2).keys);
    expect(signed.isKeyed).to.equal(true);
    const plan = { algorithm: 'STICKY', cookie: { name: 'p', ttlSeconds: 9, signed: true } };
    const placed = (of: 'route' | 'destination', id: string, target: string) => {
      const { scope = { high: 0, low: 0 } } = signedLevel(of, id, plan) ?? {};
      return { ...scope, mark: placementMark(target), endS: 0 };
    };
    const route = placed('route', 'route-1', 'canary');
    const whole = signed.seal('p', [route, placed('destination', 'dest-1', '10.0.0.3:8080')]);
    expect(asked(`p=${whole}`)).to.deep.equal(['canary', 'kept', '10.0.0.3:8080', undefined]);
    expect(asked('')).to.deep.equal([null, 'new', null, undefined]);
    expect(asked('p=x')).to.deep.equal([null, 'forged', null, undefined]);
    expect(asked(`p=${pin}`)).to.deep.equal([null, 'unsigned', byHash, `${pin}:dest-1`]);
    expect(asked(`p=${signed.seal('p', [route])}`)).to.deep.equal(['canary', 'elsewhere', null, undefined]);
    const gone = signed.seal('p', [placed('destination', 'dest-1', 'x:1')]);
    expect(asked(`p=${gone}`)).to.deep.equal([null, 'moved', null, undefined]);
    expect(signed.cached, 'explaining opens cookies as requests do').to.be.above(0);
    expect(ring.counts().kept, 'and counts nothing').to.equal(0);
  });

  it('tells why others are left out, and the circuit', () => {
    const states: Record<string, KnownEndpoint> = {
      '10.0.0.1:8080': { healthy: false, ejected: true, reason: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' },
      '10.0.0.3:8080': { healthy: true, ejected: true },
    };
    const known = { endpoint: (_: string, name: string) => states[name], circuit: () => 'open' as const };
    const left = choice({ circuitBreaker: {} }, { known });
    expect(left?.endpoints?.map(({ serves, because }) => because ?? serves)).to.deep.equal([
      'unhealthy',
      true,
      'ejected',
    ]);
    expect(left?.endpoints?.map(({ reason }) => reason)).to.deep.equal([
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      undefined,
      undefined,
    ]);
    expect(left).to.include({ endpoint: '10.0.0.2:8080', circuit: 'open' });
    const none = { endpoint: () => ({ healthy: false, ejected: false }) };
    expect(explained({}, { known: none }).outcome).to.deep.equal({
      action: 'error',
      status: 502,
      error: 'no_endpoint',
    });
    const spare = endpoints.map((each, priority) => ({ ...each, priority }));
    const prioritized = choice({}, { destination: { endpoints: spare } });
    expect(prioritized?.endpoints?.map(({ because }) => because)).to.deep.equal([undefined, 'priority', 'priority']);
  });

  it('takes discovered endpoints', () => {
    const known = { discovered: new Map([['dest-1', [{ host: '10.9.9.9', port: 1 }]]]) };
    expect(choice({}, { known })?.endpoint).to.equal('10.9.9.9:1');
  });

  it('tells the destination where it is settled', () => {
    const split = (weights: number[], more: object = {}) => ({
      forward: {
        destinations: ['dest-1', 'canary'].map((destinationId, i) => ({ destinationId, weight: weights[i] })),
        ...more,
      },
    });
    const chosen = (given: Parameters<typeof explained>[1]) => explained({}, given).choice?.destination;
    expect(chosen({})).to.equal('dest-1');
    expect(chosen(split([0, 100]))).to.equal('canary');
    expect(chosen(split([50, 50]))).to.equal(null);
    const destinationBalancing = { algorithm: 'WEIGHTED_CONSISTENT_HASH' };
    const cookie = '_sluice_destination_pin=00000000000000000000000000000015';
    expect(chosen({ ...split([90, 10], { destinationBalancing }), headers: { cookie } })).to.be.oneOf([
      'dest-1',
      'canary',
    ]);
    expect(chosen(split([90, 10], { destinationBalancing }))).to.equal(null);
    const none = { known: { endpoint: () => ({ healthy: false, ejected: false }) } };
    expect(explained({}, { ...split([50, 50]), ...none }).outcome).to.include({ error: 'no_destination' });
  });

  it('tells fixed answers among the shares, and the answer where it is settled', () => {
    const forward = (weight: number, more: object = {}) => ({
      forward: {
        destinations: [
          { destinationId: 'dest-1', weight },
          { directResponse: { status: 418 }, weight: 1 },
        ],
        ...more,
      },
    });
    const open = explained({}, forward(1));
    expect(open.choice?.destinations[1]).to.deep.equal({ directResponse: { status: 418 }, weight: 1 });
    expect(open.outcome).to.include({ action: 'forward' });
    expect(explained({}, forward(0)).outcome).to.deep.equal({ action: 'directResponse', status: 418 });
    const none = { known: { endpoint: () => ({ healthy: false, ejected: false }) } };
    expect(explained({}, { ...forward(1), ...none }).outcome).to.include({ action: 'directResponse' });
  });

  it('tells the refusal of a share without endpoints', () => {
    const none = { known: { endpoint: () => ({ healthy: false, ejected: false }) } };
    const error = (options: object, given: object) => explained(options, given).outcome;
    const refused = { action: 'error', status: 503, error: 'destination_unavailable' };
    expect(error({}, { ...none, forward: { failover: false } })).to.deep.equal(refused);
    expect(error({}, { forward: { failover: false, destinations: [{ destinationId: 'no' }] } })).to.deep.equal(refused);
    expect(error({ discovery: { type: 'kubernetes', whenEmpty: 'none' } }, {})).to.deep.equal(refused);
  });

  it('tells the changes of the route and of the destination, and what the upstream gets', () => {
    const add = (key: string, value: string) => ({ requestHeadersToAdd: [{ key, value }] });
    const own = { headers: add('host', 'own.example'), rewrite: { path: '/own' } };
    const forward = {
      headers: add('x-a', '1'),
      rewrite: { path: '/' },
      destinations: [{ destinationId: 'dest-1', ...own }],
    };
    expect(explained({}, { forward }).outcome).to.deep.include({
      upstream: {
        method: 'GET',
        target: '/own',
        host: 'own.example',
        changes: [
          { name: 'x-a', value: '1', append: false },
          { name: 'host', value: 'own.example', append: false },
        ],
      },
    });
  });
});
