import { expect } from 'chai';
import type { CorsConfig } from '../../../../src/model/middleware/cors-options.ts';
import { ConsumerDirectory } from '../../../../src/proxy/consumers/consumer-directory.ts';
import { buildCors } from '../../../../src/proxy/middleware/cors.ts';
import { ask, StubExchange } from '../../../support/stub-exchange.ts';

const shop = 'https://shop.example.com';
const whole: CorsConfig = {
  allowOrigins: [{ value: shop }, { value: 'https://[a-z]+\\.example\\.org', regex: true }],
  allowMethods: ['GET', 'PUT'],
  allowHeaders: ['X-A', 'X-B'],
  exposeHeaders: ['X-C'],
  maxAge: 600,
  allowCredentials: true,
};
const preflightOf = (config: CorsConfig, origin: string) => {
  const exchange = new StubExchange({ method: 'OPTIONS', fields: ['Origin', origin] });
  const reply = ask(buildCors(config), exchange);
  return reply instanceof Promise ? undefined : reply;
};
const answered = (config: CorsConfig, fields: readonly string[], response: readonly string[] = []) => {
  const cors = buildCors(config);
  const exchange = new StubExchange({ fields });
  expect(ask(cors, exchange)).to.equal(undefined);
  return exchange.respond(200, response, cors);
};

describe('middleware cors (contract.md §8.1)', () => {
  it('no Origin: passes untouched, no CORS header except Vary', () => {
    expect(answered(whole, [], ['X-A', 'b'])).to.deep.equal(['X-A: b', 'Vary: Origin']);
  });

  it('a preflight of an origin that is not allowed ends here, and allows nothing', () => {
    const fields = ['Origin', 'https://evil.example', 'Access-Control-Request-Method', 'GET'];
    const exchange = new StubExchange({ method: 'OPTIONS', fields });
    expect(ask(buildCors(whole), exchange)).to.deep.equal({ status: 204, fields: ['Vary', 'Origin'], body: '' });
    expect(ask(buildCors({}), exchange)).to.equal(undefined);
    expect(buildCors(whole).dryRun({ ...exchange.request, consumers: ConsumerDirectory.none })).to.deep.equal({
      answers: 204,
    });
  });

  it('`*` with credentials becomes what was asked for, in methods and in fields', () => {
    const any = { allowOrigins: [{ value: '*' }], allowMethods: ['*'], allowHeaders: ['*'] };
    const grantsOf = (config: CorsConfig, asked: readonly string[]): readonly string[] => {
      const exchange = new StubExchange({ method: 'OPTIONS', fields: ['Origin', shop, ...asked] });
      const reply = ask(buildCors(config), exchange);
      return reply === undefined || reply instanceof Promise ? [] : reply.fields.slice(2);
    };
    const asked = ['Access-Control-Request-Method', 'PUT', 'Access-Control-Request-Headers', 'x-a, authorization'];
    expect(grantsOf({ ...any, allowCredentials: true }, asked)).to.deep.equal([
      ...['Access-Control-Allow-Credentials', 'true'],
      ...['Access-Control-Allow-Methods', 'PUT', 'Vary', 'access-control-request-method'],
      ...['Access-Control-Allow-Headers', 'x-a, authorization', 'Vary', 'access-control-request-headers'],
      ...['Vary', 'Origin'],
    ]);
    expect(grantsOf({ ...any, allowCredentials: true }, asked.slice(0, 2))).not.to.include(
      'Access-Control-Allow-Headers',
    );
    expect(grantsOf(any, asked)).to.deep.equal([
      ...['Access-Control-Allow-Methods', '*', 'Access-Control-Allow-Headers', '*', 'Vary', 'Origin'],
    ]);
  });

  it('origin not allowed: passes untouched, also for OPTIONS that is no preflight', () => {
    expect(answered(whole, ['Origin', 'https://evil.example'])).to.deep.equal(['Vary: Origin']);
    expect(preflightOf(whole, 'https://evil.example')).to.equal(undefined);
  });

  it('origin not allowed: what the upstream allows it is removed', () => {
    const upstream = [
      ...['access-control-allow-origin', '*'],
      ...['Access-Control-Allow-Origin', 'https://evil.example'],
      ...['Access-Control-Allow-Credentials', 'true'],
      ...['Access-Control-Allow-Headers', 'X-A'],
      ...['Access-Control-Allow-Methods', 'DELETE'],
      ...['Access-Control-Allow-Private-Network', 'true'],
      ...['Access-Control-Expose-Headers', 'X-Secret'],
      ...['Access-Control-Max-Age', '600'],
      ...['X-A', 'b'],
    ];
    for (const method of ['GET', 'OPTIONS']) {
      const cors = buildCors(whole);
      const exchange = new StubExchange({ method, fields: ['Origin', 'https://evil.example'] });
      expect(ask(cors, exchange)).to.equal(undefined);
      expect(exchange.respond(200, upstream, cors)).to.deep.equal(['X-A: b', 'Vary: Origin']);
    }
  });

  it('no Origin, or no list: what the upstream allows stays', () => {
    const upstream = ['Access-Control-Allow-Origin', '*'];
    expect(answered(whole, [], upstream)).to.deep.equal(['Access-Control-Allow-Origin: *', 'Vary: Origin']);
    for (const config of [{}, { allowOrigins: [] }]) {
      expect(answered(config, ['Origin', shop], upstream)).to.include('Access-Control-Allow-Origin: *');
    }
  });

  it('origin allowed, method OPTIONS: 204 at once, with every header that is configured', () => {
    expect(preflightOf(whole, shop)).to.deep.equal({
      status: 204,
      fields: [
        ...['Access-Control-Allow-Origin', shop],
        ...['Access-Control-Allow-Credentials', 'true'],
        ...['Access-Control-Expose-Headers', 'X-C'],
        ...['Access-Control-Allow-Methods', 'GET, PUT'],
        ...['Access-Control-Allow-Headers', 'X-A, X-B'],
        ...['Access-Control-Max-Age', '600'],
        ...['Vary', 'Origin'],
      ],
      body: '',
    });
  });

  it('what is not configured is not in the 204: lists, credentials, a maxAge of 0', () => {
    expect(preflightOf({ allowOrigins: [{ value: '*' }], maxAge: 0 }, shop)?.fields).to.deep.equal([
      ...['Access-Control-Allow-Origin', shop],
      ...['Vary', 'Origin'],
    ]);
  });

  it('origin allowed, other method: the headers are added to the response, those of a preflight are not', () => {
    expect(answered(whole, ['Origin', shop])).to.deep.equal([
      'Vary: Origin',
      `Access-Control-Allow-Origin: ${shop}`,
      'Access-Control-Allow-Credentials: true',
      'Access-Control-Expose-Headers: X-C',
    ]);
  });

  it('`*` echoes the origin of the request', () => {
    expect(answered({ allowOrigins: [{ value: '*' }] }, ['Origin', 'null'])).to.include(
      'Access-Control-Allow-Origin: null',
    );
  });

  it('Access-Control-* of the upstream are replaced where the middleware sets the same name, and stay elsewhere', () => {
    const upstream = ['access-control-allow-origin', '*', 'Access-Control-Allow-Methods', 'DELETE'];
    expect(answered({ allowOrigins: [{ value: shop }] }, ['Origin', shop], upstream)).to.deep.equal([
      'Access-Control-Allow-Methods: DELETE',
      'Vary: Origin',
      `Access-Control-Allow-Origin: ${shop}`,
    ]);
  });

  it('Vary is appended beside what is there, and not said twice', () => {
    expect(answered(whole, [], ['Vary', 'Accept'])).to.deep.equal(['Vary: Accept', 'Vary: Origin']);
    expect(answered(whole, [], ['Vary', 'Accept, origin'])).to.deep.equal(['Vary: Accept, origin']);
  });

  it('a regular expression matches the whole origin: no look-alike passes', () => {
    const config: CorsConfig = {
      allowOrigins: [{ value: 'https://a\\.example\\.org|https://b\\.example\\.org', regex: true }],
    };
    for (const origin of ['https://a.example.org', 'https://b.example.org']) {
      expect(preflightOf(config, origin)?.status, origin).to.equal(204);
    }
    for (const origin of [
      'https://a.example.org.evil.example',
      'https://evil.example/https://a.example.org',
      'https://b.example.org.evil.example',
      'https://a.example.org\u00a0',
      'https://axexample.org',
      'HTTPS://A.EXAMPLE.ORG',
    ]) {
      expect(preflightOf(config, origin), origin).to.equal(undefined);
    }
  });

  it('without a block allows no origin and sends Vary', () => {
    const cors = buildCors(undefined);
    const exchange = new StubExchange({ fields: ['Origin', shop] });
    expect(ask(cors, exchange)).to.equal(undefined);
    expect(exchange.respond(200, [], cors)).to.deep.equal(['Vary: Origin']);
  });
});
