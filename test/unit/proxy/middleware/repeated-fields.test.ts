// A field that comes in several lines: policies and upstreams must read the same (RFC 9110 §5.3).
import { expect } from 'chai';
import { MiddlewareBed, type NamedMiddleware } from '../../../support/middleware-bed.ts';

const rule = (cel: string, action: 'allow' | 'deny', defaultAction: 'allow' | 'deny'): NamedMiddleware => ({
  type: 'inlineAuthz',
  inlineAuthz: { rules: [{ cel, action }], defaultAction },
});

describe('a field in several lines', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());

  const tenants = (...values: string[]) => ({ 'x-tenant': values });
  const status = async (headers: Readonly<Record<string, string | readonly string[]>>, path = '/') =>
    (await bed.ask({ headers, path })).status;

  it('passes no rule that allows one value', async () => {
    await bed.serve([rule('request.headers["x-tenant"] == "public"', 'allow', 'deny')]);
    expect(await status(tenants('public'))).to.equal(200);
    expect(await status(tenants('public', 'internal'))).to.equal(403);
    expect(await status(tenants('internal', 'public'))).to.equal(403);
  });

  it('is denied by any of its values', async () => {
    for (const cel of [
      'request.headerValues["x-tenant"].exists(v, v == "internal")',
      '"internal" in request.headerValues["x-tenant"]',
      'request.headers["x-tenant"].contains("internal")',
      'request.headers.exists(name, name == "x-tenant" && request.headers[name].matches("(^|, )internal(,|$)"))',
    ]) {
      await bed.serve([rule(cel, 'deny', 'allow')]);
      expect(await status(tenants('public')), cel).to.equal(200);
      expect(await status(tenants('public', 'internal')), cel).to.equal(403);
      expect(await status(tenants('internal', 'public')), cel).to.equal(403);
    }
  });

  it('matches no route that asks for one value', async () => {
    const other = { id: 'o', name: 'o', directResponse: { status: 204 } };
    await bed.serve([], {
      route: { match: { headers: [{ name: 'x-tenant', value: 'public' }] } },
      more: { routes: [other] },
    });
    expect(await status(tenants('public'))).to.equal(200);
    expect(await status(tenants('public', 'internal'))).to.equal(204);
  });

  it('is joined with what a middleware has appended', async () => {
    const append = { key: 'X-Tenant', value: 'internal', append: true };
    await bed.serve([
      { type: 'headers', headers: { requestHeadersToAdd: [append] } },
      rule('request.headers["x-tenant"] == "public, internal"', 'allow', 'deny'),
    ]);
    expect(await status(tenants('public'))).to.equal(200);
  });

  it('of cookies is joined as cookies are', async () => {
    await bed.serve([rule('request.headers.cookie == "a=1; b=2"', 'allow', 'deny')]);
    expect(await status({ cookie: ['a=1', 'b=2'] })).to.equal(200);
  });

  it('of Origin names none: cors lets no browser read', async () => {
    const cors = { allowOrigins: [{ value: 'https://.*[.]good[.]test', regex: true }] };
    await bed.serve([{ type: 'cors', cors }]);
    const allowed = async (origin: string | readonly string[]) =>
      (await bed.ask({ headers: { origin } })).headers['access-control-allow-origin'];
    expect(await allowed('https://a.good.test')).to.equal('https://a.good.test');
    expect(await allowed(['https://a.good.test', 'https://evil.test'])).to.equal(undefined);
    expect(await allowed(['https://evil.test', 'https://a.good.test'])).to.equal(undefined);
  });

  it('of Content-Type hides no JSON from a rule over the body', async () => {
    await bed.serve([rule('has(request.body.json) && request.body.json.role == "admin"', 'deny', 'allow')]);
    const posted = async (type: string | readonly string[]) =>
      (await bed.ask({ method: 'POST', headers: { 'content-type': type }, body: '{"role":"admin"}' })).status;
    expect(await posted('application/json')).to.equal(403);
    expect(await posted(['text/plain', 'application/json'])).to.equal(403);
    expect(await posted('text/plain')).to.equal(200);
  });
});

describe('a query parameter that is there twice', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());

  const ask = (path: string) => bed.ask({ path });

  it('has its first value in queryParams and all of them in queryValues', async () => {
    await bed.serve([
      rule(
        'request.queryParams.a == "1" && request.queryValues["a"] == ["1", "2"] && !("b" in request.queryValues)',
        'allow',
        'deny',
      ),
    ]);
    expect((await ask('/?a=1&a=2')).status).to.equal(200);
    expect((await ask('/?a=1&b=2')).status).to.equal(403);
  });

  it('passes by default, and is refused where the listener says so', async () => {
    await bed.serve([]);
    expect((await ask('/?a=1&a=2')).status).to.equal(200);
    await bed.serve([], { listener: { duplicateQueryParams: 'reject' } });
    for (const path of ['/?a=1&a=1', '/?a=1&b&%61=2', '/?a&a', '/?a+b=1&a%20b=2', '/?x=1&?a=1&%3Fa']) {
      const { status, body } = await ask(path);
      expect([status, JSON.parse(body).error], path).to.deep.equal([400, 'duplicate_query_param']);
    }
    for (const path of ['/', '/?', '/?a=1&b=1', '/??a=1&a=1', '/?a=1&A=1', '/?a=1;a=2']) {
      expect((await ask(path)).status, path).to.equal(200);
    }
  });
});
