// Conditions that fail or need more work than an evaluation may do, at each place where one decides (expressions.md §6).
import { expect } from 'chai';
import { compile } from '../../../../src/proxy/compile/compile.ts';
import { explain } from '../../../../src/proxy/explain/explain.ts';
import { built } from '../../../../src/proxy/upstream/balance/hash-ring.ts';
import { MiddlewareBed, type NamedMiddleware } from '../../../support/middleware-bed.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../../../support/tokens.ts';

/** Needs more steps than an evaluation may do when the path has many segments. */
const dear =
  'request.path.split("/").exists(p, ["x1","x2","x3","x4","x5"].exists(x, p.contains(x) || p.endsWith("y")))';
const long = `/${'a/'.repeat(20_000)}private`;
const by = signerOf('ES256');
const jwt: NamedMiddleware = { type: 'jwt', jwt: { issuer: 'i', jwksInline: jwksOf(by.jwk) } };

describe('a condition that cannot be decided', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());

  const listener = { maxRequestHeadersKB: 1024 };
  const status = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    (await bed.ask({ path, headers })).status;

  it('of onlyWhen runs the middleware: no padding gets past a jwt', async () => {
    const only = `${dear} || request.path.startsWith("/private")`;
    await bed.serve([jwt], { listener, route: { middlewareOverrides: { m0: { onlyWhen: [only] } } } });
    expect(await status('/public')).to.equal(200);
    expect(await status('/private')).to.equal(401);
    expect(await status(long)).to.equal(401);
    await bed.serve([jwt], { route: { middlewareOverrides: { m0: { onlyWhen: ['request.headers["x-a"] != "1"'] } } } });
    expect(await status('/', { 'x-a': '1' })).to.equal(200);
    expect(await status('/', {}), 'the field that it asks for is absent').to.equal(401);
  });

  it('of skipWhen does not skip', async () => {
    await bed.serve([jwt], { listener, route: { middlewareOverrides: { m0: { skipWhen: [`!(${dear})`] } } } });
    expect(await status('/public')).to.equal(200);
    expect(await status(long)).to.equal(401);
  });

  it('of inlineAuthz denies: exhausted in any rule, failed in a rule that denies', async () => {
    const serve = (cel: string, action: 'allow' | 'deny') =>
      bed.serve([{ type: 'inlineAuthz', inlineAuthz: { rules: [{ cel, action }], defaultAction: 'allow' } }], {
        listener,
      });
    await serve('request.headers["user-agent"].matches("(evil|bad)bot")', 'deny');
    expect(await status('/', { 'user-agent': 'curl' })).to.equal(200);
    expect(await status('/', { 'user-agent': 'evilbot' })).to.equal(403);
    expect(await status('/', { 'user-agent': `${'a'.repeat(900_000)}evilbot` })).to.equal(403);
    expect(await status('/'), 'no User-Agent').to.equal(403);
    await serve('has(request.headers.x) && request.headers.x == "1"', 'deny');
    expect(await status('/')).to.equal(200);
    await serve(dear, 'allow');
    expect(await status('/a')).to.equal(200);
    expect(await status(long)).to.equal(403);
    await serve('request.headers["x-none"] == "a"', 'allow');
    expect(await status('/'), 'the default decides').to.equal(200);
  });

  it('of assertClaims refuses, of claimToHeaders sets nothing', async () => {
    const token = tokenOf(by, { iss: 'i', exp: inAnHour(), path: 'a/'.repeat(10_000) });
    const headers = { authorization: `Bearer ${token}`, 'x-part': 'forged' };
    const over = 'claims.path.split("/").exists(p, [1,2,3,4,5,6,7,8,9,10,11,12].exists(x, p == "y"))';
    const serve = (config: object) =>
      bed.serve([{ type: 'jwt', jwt: { ...jwt.jwt, ...config } as never }], { listener });
    await serve({ assertClaims: [`!(${over})`] });
    expect(await status('/', headers)).to.equal(403);
    await serve({ claimToHeaders: [{ expr: `string(${over})`, header: 'x-part' }] });
    expect(await status('/', headers)).to.equal(200);
    expect(bed.lastSent('x-part')).to.equal(undefined);
  });

  it('of a route ends the request with 400 expression_limit, and explain says the same', async () => {
    const open = { id: 'open', name: 'open', match: { pathPrefix: '/' }, directResponse: { status: 204 } };
    const closed = { match: { pathPrefix: '/', cel: dear }, forward: { destinations: [{ destinationId: 'd' }] } };
    await bed.serve([], { listener, route: closed, more: { routes: [open] } });
    expect(await status('/a')).to.equal(204);
    const answer = await bed.ask({ path: long });
    expect(JSON.parse(answer.body)).to.deep.equal({
      error: 'expression_limit',
      message: 'expression takes too many steps',
      status: 400,
    });
    expect(await status('/a'), 'the next request').to.equal(204);
    const { table } = compile(
      {
        listeners: [],
        groups: [],
        destinations: [],
        middlewares: [],
        routes: [{ id: 'r', name: 'r', ...closed }, open],
      },
      { canRun: () => true },
    );
    if (table === undefined) throw new Error('the table must compile');
    const explained = (url: string) => built(explain(table, [], { method: 'GET', url, headers: {}, clientIp: '::1' }));
    expect(explained('/a').winner?.route.id).to.equal('open');
    const { winner, outcome, candidates } = explained(long);
    expect(winner).to.equal(null);
    expect(outcome).to.deep.equal({ action: 'error', status: 400, error: 'expression_limit' });
    expect(candidates[0]?.failed).to.deep.include({ matcher: 'cel', found: 'takes too many steps' });
  });

  for (const [what, match] of [
    ['expressions', { cel: '"x-long" in request.headers && request.headers["x-long"].contains("needle")' }],
    ['patterns of headers', { headers: [{ name: 'x-long', regex: true, value: 'needle' }] }],
    ['patterns of each line', { headers: [{ name: 'x-long', regex: true, value: 'needle', multiple: 'any' }] }],
  ] as const)
    it(`may be one of many: ${what} of all routes together take a bounded time of a request, and explain says so`, async () => {
      const closed = (id: string) => ({
        id,
        name: id,
        match: { pathPrefix: '/', ...match },
        directResponse: { status: 299 },
      });
      const open = { id: 'z-open', name: 'z-open', match: { pathPrefix: '/' }, directResponse: { status: 204 } };
      const many = Array.from({ length: 40 }, (_, at) => closed(`c${at}`));
      await bed.serve([], { listener, route: closed('c'), more: { routes: [...many, open] } });
      const header = (bytes: number) => ({ 'x-long': 'x'.repeat(bytes) });
      expect(await status('/', header(60_000)), 'what each has free').to.equal(204);
      const answer = await bed.ask({ path: '/', headers: header(800_000) });
      expect([answer.status, JSON.parse(answer.body).error]).to.deep.equal([400, 'expression_limit']);
      expect(await status('/', header(60_000)), 'the next request').to.equal(204);
      const routes = [...many, open];
      const { table } = compile(
        { listeners: [], groups: [], destinations: [], middlewares: [], routes },
        { canRun: () => true },
      );
      if (table === undefined) throw new Error('the table must compile');
      const explained = (headers: Readonly<Record<string, string>>) =>
        built(explain(table, [], { method: 'GET', url: '/', headers, clientIp: '::1' }));
      expect(explained(header(60_000)).winner?.route.id).to.equal('z-open');
      const { outcome } = explained(header(800_000));
      expect(outcome).to.deep.equal({ action: 'error', status: 400, error: 'expression_limit' });
    });

  it('of a chain is explained with what it came to', () => {
    const middlewareOverrides = { a: { onlyWhen: [dear], skipWhen: ['request.headers["x"] == "1"'] } };
    const route = { id: 'r', name: 'r', middlewareIds: ['a'], middlewareOverrides, directResponse: { status: 204 } };
    const { table } = compile(
      {
        ...{ listeners: [], groups: [], destinations: [], routes: [route] },
        middlewares: [{ id: 'a', name: 'a', type: 'cors', cors: {} }],
      },
      { canRun: () => true },
    );
    if (table === undefined) throw new Error('the table must compile');
    const { middlewares } = built(explain(table, [], { method: 'GET', url: long, headers: {}, clientIp: '::1' }));
    expect(middlewares[0]).to.deep.include({ runs: true, because: 'onlyWhen' });
    expect(middlewares[0]?.conditions?.map(({ value, failed }) => [value, failed])).to.deep.equal([
      [null, 'error'],
      [null, 'exhausted'],
    ]);
  });
});
