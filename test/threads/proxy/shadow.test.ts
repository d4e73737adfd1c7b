// Shadow of a candidate (fleet.md §7): requests that stable serves are compared and served by stable alone.

import { connect } from 'node:http2';
import { expect } from 'chai';
import type { ShadowCounts } from '../../../src/model/answers/rollout-answers.ts';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { noShadow, type ShadowExamples } from '../../../src/model/shadow.ts';
import type { Proxy as DataPlane } from '../../../src/proxy/proxy.ts';
import { CandidateBed } from '../../support/candidate-bed.ts';
import { keyed, storedConsumers } from '../../support/consumers.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { secretHashes, umlautHash } from '../../support/password-hashes.ts';
import type { HandSource, ProxyBed } from '../../support/proxy-bed.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../../support/tokens.ts';

type Parts = Partial<Record<keyof Configuration, readonly object[]>>;

for (const workers of [1, 2]) {
  describe(`a shadow, ${workers === 1 ? 'in a worker within the thread' : `in ${workers} workers`}`, () => {
    let candidates: CandidateBed;
    let bed: ProxyBed;
    let source: HandSource;
    let proxy: DataPlane;
    let port: number;
    let index: number;

    beforeEach(async () => {
      candidates = await CandidateBed.open(workers);
      ({ bed, source, proxy, port } = candidates);
      index = 0;
    });
    afterEach(() => candidates.end());

    const withListener = (parts: Parts): Partial<Configuration> =>
      ({ listeners: [{ id: 'l', name: 'l', port }], ...parts }) as Partial<Configuration>;
    const direct = (id: string, pathPrefix: string, body = id, more: object = {}) => ({
      ...{ id, name: id, match: { pathPrefix }, directResponse: { status: 200, body }, ...more },
    });
    const begin = async (stable: Parts, candidate: Parts, shadowSample = 1): Promise<void> => {
      source.publish(++index, withListener(stable));
      if (index === 1) await proxy.start();
      await proxy.installed(index, 30_000);
      const count = candidates.outcomes.length;
      source.offer(
        ++index,
        'listeners' in candidate ? (candidate as Partial<Configuration>) : withListener(candidate),
        {
          share: 0,
          shadowSample,
        },
      );
      await candidates.settled(count + 1);
      expect(candidates.outcomes.at(-1)?.refusal).to.equal(undefined);
    };
    const ask = (path: string, headers: Record<string, string> = {}, body?: string) =>
      candidates.ask(path, { headers, ...(body !== undefined && { body }) });
    const counts = (): ShadowCounts => proxy.figures('candidate').shadow ?? noShadow;
    const counted = async (wanted: Partial<ShadowCounts>): Promise<void> => {
      await eventually(() => expect(counts()).to.deep.equal({ ...noShadow, ...wanted }));
    };
    const examples = (): Partial<ShadowExamples> => proxy.figures('candidate').examples ?? {};

    it('counts what a candidate loses, gains and answers differently, and serves no client from it', async () => {
      const stable = [direct('kept', '/kept'), direct('gone', '/gone'), direct('said', '/said', 'old')];
      const candidate = [direct('kept', '/kept'), direct('new', '/new'), direct('said', '/said', 'new')];
      await begin({ routes: stable }, { routes: candidate });
      expect(await ask('/kept')).to.deep.equal({ status: 200, text: 'kept' });
      expect(await ask('/gone?a=secret&b=1&alone')).to.deep.equal({ status: 200, text: 'gone' });
      expect((await ask('/new')).status).to.equal(404);
      expect(await ask('/said')).to.deep.equal({ status: 200, text: 'old' });
      await counted({ requests: 4, same: 1, lost: 1, gained: 1, answersChanged: 1 });
      expect(proxy.figures('candidate').requests).to.equal(0);
      await eventually(() => expect(examples().answersChanged).to.have.lengthOf(1));
      expect(examples().lost).to.have.lengthOf(1);
      const { time, ...lost } = examples().lost?.[0] ?? { time: '' };
      expect(Date.parse(time)).to.be.above(0);
      expect(lost).to.deep.equal({
        method: 'GET',
        host: '127.0.0.1',
        path: '/gone',
        params: ['a', 'b'],
        from: { id: 'gone', name: 'gone' },
        to: null,
        what: ['route'],
      });
    });

    it('finds requests that move: to another route, destination, weight, target, field or listener', async () => {
      const upstream = await bed.upstream((_, response) => response.end('up'));
      const destinations = ['a', 'b'].map((id) => ({ id, name: id, host: '127.0.0.1', port: upstream }));
      const forward = (id: string, share: object, more: object = {}) => ({
        ...{ id, name: id, match: { pathPrefix: `/${id}` }, forward: { destinations: [share], ...more } },
      });
      const a = { destinationId: 'a' };
      const stable = [
        ...['same', 'route', 'to', 'target', 'field'].map((id) => forward(id, a)),
        forward('literal', a, { rewrite: { path: '/x' } }),
        { ...forward('weights', a), forward: { destinations: [a, { destinationId: 'b', weight: 1 }] } },
      ];
      const candidate = [
        ...[
          forward('same', a, { timeouts: { request: '9s' } }),
          { ...forward('route', a), id: 'other', name: 'other' },
        ],
        ...[forward('to', { destinationId: 'b' }), forward('target', a, { rewrite: { path: '/y' } })],
        forward('field', a, { headers: { requestHeadersToAdd: [{ key: 'x-new', value: '1' }] } }),
        forward('literal', a, { rewrite: { pathRegex: { pattern: '^/literal', substitution: '/x' } } }),
        { ...forward('weights', a), forward: { destinations: [a, { destinationId: 'b', weight: 9 }] } },
      ];
      await begin({ routes: stable, destinations }, { routes: candidate, destinations });
      for (const { match } of stable) expect(await ask(match.pathPrefix)).to.deep.equal({ status: 200, text: 'up' });
      await counted({ requests: 7, same: 2, moved: 5 });
      await eventually(() => expect(examples().moved).to.have.lengthOf(5));
      const what = Object.fromEntries((examples().moved ?? []).map((each) => [each.path, each.what]));
      expect(what).to.deep.equal({
        '/route': ['route'],
        '/to': ['destinations'],
        '/target': ['rewrite'],
        '/field': ['fields'],
        '/weights': ['destinations'],
      });
    });

    it('compares requests of HTTP/2 as those of HTTP/1.1, each stream by itself', async () => {
      const routes = [direct('kept', '/kept'), direct('gone', '/gone')];
      const listeners = [{ id: 'l', name: 'l', port, http2: true }];
      await begin({ routes, listeners }, { routes: routes.slice(0, 1), listeners });
      const session = connect(`http://127.0.0.1:${port}`);
      bed.atEnd(async () => session.destroy());
      const get = (path: string) =>
        new Promise<number>((resolve, reject) => {
          const stream = session.request({ ':path': path });
          stream.on('response', (headers) => resolve(Number(headers[':status'])));
          stream.on('error', reject);
          stream.resume().end();
        });
      const paths = Array.from({ length: 20 }, (_, at) => (at % 4 === 0 ? '/gone' : '/kept'));
      expect(new Set(await Promise.all(paths.map(get)))).to.deep.equal(new Set([200]));
      await counted({ requests: 20, same: 15, lost: 5 });
    });

    it('loses all requests of a listener that the candidate has not', async () => {
      const routes = [direct('r', '/')];
      await begin({ routes }, { routes, listeners: [{ id: 'm', name: 'm', port: await freePort() }] });
      expect((await ask('/')).status).to.equal(200);
      await counted({ requests: 1, lost: 1 });
    });

    it('decides as inlineAuthz, jwt, cors and headers of both would, and takes the others as they are', async () => {
      const authz = (cel: string) => ({
        ...{ id: 'm', name: 'm', type: 'inlineAuthz' },
        inlineAuthz: { rules: [{ cel, action: 'deny' }], defaultAction: 'allow' },
      });
      const chained = [direct('r', '/', 'r', { middlewareIds: ['m'] })];
      const parts = (middleware: object): Parts => ({ routes: chained, middlewares: [middleware] });
      await begin(parts(authz('"x-bad" in request.headers')), parts(authz('"x-worse" in request.headers')));
      expect((await ask('/')).status).to.equal(200);
      expect((await ask('/', { 'x-bad': '1' })).status).to.equal(403);
      expect((await ask('/', { 'x-worse': '1' })).status).to.equal(200);
      expect((await ask('/', { 'x-bad': '1', 'x-worse': '1' })).status).to.equal(403);
      await counted({ requests: 4, same: 2, rejectedLess: 1, rejectedMore: 1 });
      source.withdraw();

      const key = signerOf('ES256');
      const jwt = (audience: string) => ({
        ...{ id: 'm', name: 'm', type: 'jwt' },
        jwt: { issuer: 'me', audiences: [audience], jwksInline: jwksOf(key.jwk) },
      });
      await begin(parts(jwt('one')), parts(jwt('two')));
      const bearer = (claims: object) => ({
        authorization: `Bearer ${tokenOf(key, { iss: 'me', exp: inAnHour(), ...claims })}`,
      });
      expect((await ask('/')).status).to.equal(401);
      expect((await ask('/', bearer({ aud: 'one' }))).status).to.equal(200);
      expect((await ask('/', bearer({ aud: 'two' }))).status).to.equal(401);
      expect((await ask('/', bearer({ aud: ['one', 'two'] }))).status).to.equal(200);
      await counted({ requests: 8, same: 4, rejectedLess: 2, rejectedMore: 2 });
      source.withdraw();

      const cors = (value: string) => ({ id: 'm', name: 'm', type: 'cors', cors: { allowOrigins: [{ value }] } });
      await begin(parts(cors('http://one')), parts(cors('http://two')));
      await ask('/', { origin: 'http://one' });
      await ask('/');
      await counted({ requests: 10, same: 5, answersChanged: 1, rejectedLess: 2, rejectedMore: 2 });
      source.withdraw();

      const limited = (requestsPerSecond: number) => ({
        ...{ id: 'm', name: 'm', type: 'rateLimit' },
        rateLimit: { requestsPerSecond, burst: 10 },
      });
      await begin(parts(limited(1_000)), parts(limited(900)));
      await ask('/');
      await counted({ requests: 11, same: 6, answersChanged: 1, rejectedLess: 2, rejectedMore: 2 });
    });

    it('finds a protection that the candidate leaves out, and one whose condition changed', async () => {
      const middlewares = [
        {
          ...{ id: 'm', name: 'm', type: 'inlineAuthz' },
          inlineAuthz: { rules: [{ cel: '"x-key" in request.headers', action: 'allow' }], defaultAction: 'deny' },
        },
      ];
      const guarded = (id: string, more: object = {}) => direct(id, `/${id}`, id, { middlewareIds: ['m'], ...more });
      const skipping = { middlewareOverrides: { m: { skipWhen: ['request.queryParams["skip"] == "1"'] } } };
      await begin(
        { middlewares, routes: [guarded('out'), guarded('skip')] },
        { middlewares, routes: [direct('out', '/out'), guarded('skip', skipping)] },
      );
      expect((await ask('/out')).status).to.equal(403);
      expect((await ask('/out', { 'x-key': '1' })).status).to.equal(200);
      expect((await ask('/skip?skip=1')).status).to.equal(403);
      expect((await ask('/skip')).status).to.equal(403);
      await counted({ requests: 4, same: 1, rejectedLess: 2, moved: 1 });
    });

    it('finds another limit of bodies', async () => {
      await begin(
        { routes: [direct('less', '/less'), direct('more', '/more', 'more', { maxRequestBodyBytes: 4 })] },
        { routes: [direct('less', '/less', 'less', { maxRequestBodyBytes: 4 }), direct('more', '/more')] },
      );
      expect((await ask('/less', {}, '12345')).status).to.equal(200);
      expect((await ask('/less', {}, '1234')).status).to.equal(200);
      expect((await ask('/more', {}, '12345')).status).to.equal(413);
      await counted({ requests: 3, same: 1, rejectedMore: 1, rejectedLess: 1 });
    });

    it('finds another limit of bodies of the listener, where the route has none', async () => {
      const routes = [direct('plain', '/plain'), direct('own', '/own', 'own', { maxRequestBodyBytes: 8 })];
      const limited = (maxRequestBodyBytes: number): Parts => ({
        routes,
        listeners: [{ id: 'l', name: 'l', port, maxRequestBodyBytes }],
      });
      await begin(limited(5), limited(3));
      for (const path of ['/plain', '/own']) {
        expect((await ask(path, {}, '123')).status).to.equal(200);
        expect((await ask(path, {}, '1234')).status).to.equal(200);
        expect((await ask(path)).status).to.equal(200);
      }
      expect((await ask('/plain', {}, '123456')).status).to.equal(413);
      await counted({ requests: 7, same: 6, rejectedMore: 1 });
      source.withdraw();
      await begin(limited(3), limited(0));
      expect((await ask('/plain', {}, '1234')).status).to.equal(413);
      await counted({ requests: 8, same: 6, rejectedMore: 1, rejectedLess: 1 });
    });

    it('sees consumers that come, go and change, with routes and middlewares that are alike', async () => {
      const routes = [direct('r', '/', 'r', { middlewareIds: ['m'] }), direct('open', '/open')];
      const middlewares = [
        { id: 'm', name: 'm', type: 'apiKey', apiKey: { sources: { header: 'x-api-key' }, consumerHeader: 'x-who' } },
      ];
      const withConsumers = (...consumers: readonly object[]): Parts => ({
        ...{ routes, middlewares, consumers: storedConsumers(...consumers) },
      });
      const [ann, bob] = [keyed('ann', ['key-of-ann']), keyed('bob', ['key-of-bob'])];
      await begin(withConsumers(ann, bob), withConsumers(ann, keyed('eve', ['key-of-eve'])));
      const status = async (key: string): Promise<number> => (await ask('/', { 'x-api-key': key })).status;
      expect([await status('key-of-ann'), await status('key-of-bob'), await status('key-of-eve')]).to.deep.equal([
        200, 200, 401,
      ]);
      expect(await status('no-key')).to.equal(401);
      expect((await ask('/open')).status).to.equal(200);
      await counted({ requests: 5, same: 3, rejectedMore: 1, rejectedLess: 1 });
      await eventually(() => expect(examples().rejectedLess).to.have.lengthOf(1));
      expect(JSON.stringify(examples())).to.not.contain('key-of');
      source.withdraw();
      await begin(withConsumers(ann), withConsumers({ ...ann, name: 'anna' }));
      expect(await status('key-of-ann')).to.equal(200);
      await counted({ requests: 6, same: 3, rejectedMore: 1, rejectedLess: 1, moved: 1 });
      source.withdraw();
      await begin(withConsumers(ann), withConsumers({ ...ann }));
      expect(await status('key-of-ann')).to.equal(200);
      await counted({ requests: 7, same: 4, rejectedMore: 1, rejectedLess: 1, moved: 1 });
    });

    it('sees subjects of tokens that name another consumer', async () => {
      const key = signerOf('ES256');
      const middlewares = [
        { id: 'm', name: 'm', type: 'jwt', jwt: { issuer: 'me', jwksInline: jwksOf(key.jwk) } },
        {
          ...{ id: 'n', name: 'n', type: 'inlineAuthz' },
          inlineAuthz: { rules: [{ cel: 'consumer.name == "ann"', action: 'allow' }], defaultAction: 'deny' },
        },
      ];
      const routes = [direct('r', '/', 'r', { middlewareIds: ['m', 'n'] })];
      const named = (subject: string): Parts => ({
        ...{ routes, middlewares },
        consumers: [{ id: 'a', name: 'ann', credentials: [{ type: 'jwt', issuer: 'me', subject }] }],
      });
      await begin(named('one'), named('two'));
      const status = async (sub: string): Promise<number> => {
        const token = tokenOf(key, { iss: 'me', exp: inAnHour(), sub });
        return (await ask('/', { authorization: `Bearer ${token}` })).status;
      };
      expect([await status('one'), await status('two'), await status('six')]).to.deep.equal([200, 403, 403]);
      await counted({ requests: 3, same: 1, rejectedMore: 1, rejectedLess: 1 });
    });

    it('decides about passwords by what was verified before, and hashes none', async () => {
      const middlewares = [{ id: 'm', name: 'm', type: 'basicAuth', basicAuth: { consumers: true } }];
      const routes = [direct('r', '/', 'r', { middlewareIds: ['m'] })];
      const user = (name: string, passwordHash: string = secretHashes.bcrypt) => ({
        ...{ id: name, name, credentials: [{ type: 'basic', username: name, passwordHash }] },
      });
      const users = (...consumers: readonly object[]): Parts => ({ routes, middlewares, consumers });
      const status = async (name: string, password = 'secret'): Promise<number> => {
        const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
        return (await ask('/', { authorization })).status;
      };
      await begin(users(user('ann'), user('bob'), user('cid')), users(user('ann'), user('cid', umlautHash)));
      // A right and a wrong password of an unchanged user count alike on both sides, verified or not.
      expect([await status('ann'), await status('ann'), await status('ann', 'wrong')]).to.deep.equal([200, 200, 401]);
      expect([await status('eve'), (await ask('/')).status]).to.deep.equal([401, 401]);
      await counted({ requests: 5, same: 5 });
      expect(await status('bob', 'wrong')).to.equal(401);
      expect(await status('cid')).to.equal(200);
      await counted({ requests: 5, same: 5, undecided: 2 });
      // Two threads verify it once each.
      await eventually(async () => {
        expect(await status('bob')).to.equal(200);
        expect(counts().rejectedMore).to.be.greaterThan(0);
      });
      expect(counts()).to.include({ same: 5, moved: 0, rejectedLess: 0 });
      source.withdraw();
      await begin(users(user('ann')), { routes: [direct('r', '/')] });
      const before = counts();
      expect((await ask('/')).status).to.equal(401);
      await eventually(() => expect(counts().rejectedLess).to.equal(before.rejectedLess + 1));
    });

    it('compares by the body where both ask for it, and counts as undecided what stable does not read', async () => {
      const match = (cel: string) => ({ match: { cel } });
      const asks = (text: string) => direct('r', '/', 'r', match(`request.body.raw == "${text}"`));
      const rest = (id: string) => direct(id, '/');
      await begin({ routes: [asks('one'), rest('rest')] }, { routes: [asks('two'), rest('rest')] });
      expect((await ask('/', {}, 'one')).text).to.equal('r');
      expect((await ask('/', {}, 'three')).text).to.equal('rest');
      await counted({ requests: 2, same: 1, moved: 1, answersChanged: 1 });
      source.withdraw();
      await begin({ routes: [rest('rest')] }, { routes: [asks('two'), rest('rest')] });
      expect((await ask('/', {}, 'two')).text).to.equal('rest');
      expect((await ask('/')).text).to.equal('rest');
      await counted({ requests: 3, same: 2, moved: 1, answersChanged: 1, undecided: 1 });
      source.withdraw();

      const authz = (word: string) => ({
        ...{ id: 'm', name: 'm', type: 'inlineAuthz' },
        inlineAuthz: { rules: [{ cel: `request.body.raw == "${word}"`, action: 'deny' }], defaultAction: 'allow' },
      });
      const tag = {
        id: 't',
        name: 't',
        type: 'headers',
        headers: { requestHeadersToAdd: [{ key: 'x-t', value: '1' }] },
      };
      const routes = [direct('r', '/', 'r', { middlewareIds: ['t', 'm'] })];
      await begin({ routes, middlewares: [tag, authz('bad')] }, { routes, middlewares: [tag, authz('worse')] });
      expect((await ask('/', {}, 'bad')).status).to.equal(403);
      expect((await ask('/', {}, 'worse')).status).to.equal(200);
      expect((await ask('/', {}, 'good')).status).to.equal(200);
      await counted({
        requests: 6,
        same: 3,
        moved: 1,
        answersChanged: 1,
        undecided: 1,
        rejectedLess: 1,
        rejectedMore: 1,
      });
    });

    it('leaves the request as it is for the middlewares and matchers of stable', async () => {
      const upstream = await bed.upstream((request, response) => response.end(JSON.stringify(request.headers)));
      const destinations = [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstream }];
      const adding = (key: string) => ({
        ...{ id: 'h', name: 'h', type: 'headers' },
        headers: { requestHeadersToAdd: [{ key, value: 'set' }], requestHeadersToRemove: ['x-client'] },
      });
      const routes = [
        {
          ...{ id: 'r', name: 'r', middlewareIds: ['h'] },
          ...{ match: { pathPrefix: '/' }, forward: { destinations: [{ destinationId: 'd' }] } },
        },
      ];
      await begin(
        { destinations, routes, middlewares: [adding('x-stable')] },
        { destinations, routes, middlewares: [adding('x-candidate')] },
      );
      const got = JSON.parse((await ask('/', { 'x-client': '1' })).text);
      expect(got).to.include({ 'x-stable': 'set' });
      expect(got).to.not.have.any.keys('x-candidate', 'x-client');
      await counted({ requests: 1, moved: 1 });
    });

    it('compares one request in so many, none before its step and none behind it', async () => {
      const routes = [direct('r', '/')];
      await begin({ routes }, { routes }, 5);
      for (let at = 0; at < 200; at++) await ask('/');
      await eventually(() => expect(counts().requests).to.be.within(10, 100));
      const { requests } = counts();
      source.withdraw();
      await eventually(() => expect(proxy.candidate()).to.equal(undefined));
      for (let at = 0; at < 10; at++) await ask('/');
      expect(counts().requests).to.equal(requests);
    });
  });
}
