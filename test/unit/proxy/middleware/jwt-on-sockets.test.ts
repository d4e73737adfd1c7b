import {
  createServer as createHttp2Server,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
} from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import { expect } from 'chai';
import type { JwtConfig } from '../../../../src/model/middleware/jwt-options.ts';
import { ca, server } from '../../../support/certificates.ts';
import { eventually } from '../../../support/eventually.ts';
import { MiddlewareBed, type Surroundings } from '../../../support/middleware-bed.ts';
import { listening } from '../../../support/proxy-bed.ts';
import { inAnHour, jwksOf, type Signer, signerOf, tokenOf } from '../../../support/tokens.ts';

const issuer = 'https://login.example.com/';

describe('jwt with keys from a destination', () => {
  let bed: MiddlewareBed;
  /** Response of the destination of the keys, and its number of requests. */
  let document: string;
  let status: number;
  let asked: number;
  let keysPort: number;
  const by = signerOf('ES256');
  const claims = () => ({ iss: issuer, exp: inAnHour(), sub: 'ann' });
  beforeEach(async () => {
    bed = new MiddlewareBed();
    document = jwksOf({ ...by.jwk, kid: 'one' });
    status = 200;
    asked = 0;
    keysPort = await bed.bed.upstream((request, response) => {
      if (request.url === '/jwks.json') asked++;
      response.writeHead(status, { 'content-type': 'text/html' });
      response.end(document);
    });
  });
  afterEach(() => bed.end());

  const serve = (jwt: Partial<JwtConfig> = {}, around: Surroundings = {}, port = keysPort) =>
    bed.serve([{ type: 'jwt', jwt: { issuer, jwksPath: '/jwks.json', jwksDestinationId: 'k', ...jwt } }], {
      more: { destinations: [{ id: 'k', name: 'k', host: '127.0.0.1', port }] },
      ...around,
    });
  const ask = async (token: string, headers: Record<string, string> = {}) =>
    (await bed.ask({ headers: { authorization: `Bearer ${token}`, ...headers } })).status;
  const token = (signer: Signer = by, kid = 'one') => tokenOf(signer, claims(), { kid });

  it('a request that comes at once waits for the keys; there is one request for them', async () => {
    await serve({ claimToHeaders: [{ expr: 'claims.sub', header: 'X-User' }] });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(token(), { x_user: 'root' })));
    expect(new Set(answers)).to.deep.equal(new Set([200]));
    expect([bed.lastSent('x-user'), bed.lastSent('x_user'), bed.lastSent('authorization')]).to.deep.equal([
      'ann',
      undefined,
      undefined,
    ]);
    expect(asked).to.equal(1);
    expect(await ask(token(signerOf('ES256')))).to.equal(401);
    expect((await bed.ask()).headers['www-authenticate']).to.equal('Bearer');
  });

  for (const forwardJwt of [false, true]) {
    it(`a claim takes the place of the Authorization header with forwardJwt ${forwardJwt}`, async () => {
      await serve({ claimToHeaders: [{ expr: '"Basic " + claims.sub', header: 'Authorization' }], forwardJwt });
      expect([await ask(token()), bed.lastSent('authorization')]).to.deep.equal([200, 'Basic ann']);
    });
  }

  it('where a condition skips it, no client passes as another: its claim fields go, those of a middleware stay', async () => {
    const jwt = { issuer, jwksPath: '/jwks.json', jwksDestinationId: 'k' };
    const claimToHeaders = ['X-User', 'X-Role', 'Authorization'].map((header) => ({ expr: 'claims.sub', header }));
    await bed.serve(
      [
        { type: 'headers', headers: { requestHeadersToAdd: [{ key: 'X-Role', value: 'guest', append: true }] } },
        { type: 'jwt', jwt: { ...jwt, claimToHeaders } },
      ],
      {
        route: { middlewareOverrides: { m1: { skipWhen: ["request.path == '/public'"] } } },
        more: { destinations: [{ id: 'k', name: 'k', host: '127.0.0.1', port: keysPort }] },
      },
    );
    const headers = {
      'x-user': 'root',
      X_User: 'root',
      'x-role': 'admin',
      authorization: 'Basic YTpi',
      'x-other': 'o',
    };
    expect((await bed.ask({ path: '/public', headers })).status).to.equal(200);
    expect(['x-user', 'x_user', 'x-role', 'x-other', 'authorization'].map((name) => bed.lastSent(name))).to.deep.equal([
      undefined,
      undefined,
      'guest',
      'o',
      'Basic YTpi',
    ]);
    expect((await bed.ask({ path: '/private', headers })).status).to.equal(401);
  });

  it('many routes and activations ask for them once', async () => {
    await serve();
    expect(await ask(token())).to.equal(200);
    for (let i = 0; i < 5; i++) await serve({}, { route: { name: `r${i}` } });
    expect(await ask(token())).to.equal(200);
    expect(asked).to.equal(1);
  });

  it('an unknown kid right after the first fetch is looked for, and is good when the keys were changed', async () => {
    await serve();
    expect(await ask(token())).to.equal(200);
    const other = signerOf('EdDSA');
    document = jwksOf({ ...other.jwk, kid: 'two' });
    expect(await ask(token(other, 'two'))).to.equal(200);
    expect(asked).to.equal(2);
  });

  it('unknown kids make one request in ten seconds: a flood of them no more', async () => {
    await serve();
    expect(await ask(token())).to.equal(200);
    const flood = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(token(signerOf('ES256'), `k${i}`))));
    expect(new Set(flood)).to.deep.equal(new Set([401]));
    expect(asked).to.equal(2);
  });

  it('a changed middleware fetches again, the old keys serving until the new ones are there', async () => {
    await serve();
    expect(await ask(token())).to.equal(200);
    status = 500;
    await serve({ audiences: [] });
    await eventually(() => expect(asked).to.equal(2));
    expect(await ask(token())).to.equal(200);
    status = 200;
    const other = signerOf('EdDSA');
    document = jwksOf({ ...other.jwk, kid: 'two' });
    await serve({ forwardJwt: true });
    await eventually(async () => expect(await ask(token(other, 'two'))).to.equal(200));
    expect(await ask(token())).to.equal(401);
  });

  it('without keys every token is 401: refused, missing destination, no document, hanging', async () => {
    await serve({}, {}, 1);
    expect(await ask(token())).to.equal(401);
    await serve({ jwksDestinationId: 'gone' });
    expect(await ask(token())).to.equal(401);
    document = 'no document';
    await serve();
    expect(await ask(token())).to.equal(401);
    const hanging = await bed.bed.upstream(() => {});
    await serve({ jwksRetrievalTimeout: '100ms' }, {}, hanging);
    expect(await ask(token())).to.equal(401);
    expect(bed.reached).to.have.length(0);
  });

  it('the destination is asked at its own host and port, past its endpoints', async () => {
    await serve(
      {},
      {
        more: {
          destinations: [
            { id: 'k', name: 'k', host: '127.0.0.1', port: keysPort, endpoints: [{ host: '127.0.0.1', port: 1 }] },
          ],
        },
      },
    );
    expect(await ask(token())).to.equal(200);
  });

  for (const secure of [true, false]) {
    it(`the destination is asked over HTTP/2 ${secure ? 'by ALPN' : 'at once'} where it is configured`, async () => {
      const asked: string[] = [];
      const answer = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
        asked.push(`${request.httpVersion} ${request.authority}`);
        response.end(document);
      };
      const http2 = secure ? createSecureServer({ ...server, allowHTTP1: false }, answer) : createHttp2Server(answer);
      const sessions = new Set<Http2Session>();
      http2.on('session', (session) => sessions.add(session));
      bed.bed.atEnd(async () => {
        for (const session of sessions) session.destroy();
        http2.close();
      });
      const port = await listening(http2);
      const options = { http2: true, ...(secure && { tls: { mode: 'tls' as const, ca } }) };
      await serve({}, { more: { destinations: [{ id: 'k', name: 'k', host: '127.0.0.1', port, options }] } });
      expect(await ask(token())).to.equal(200);
      expect(asked).to.deep.equal([`2.0 127.0.0.1:${port}`]);
    });
  }

  it('the destination is asked for the server name that is configured', async () => {
    const names: unknown[] = [];
    const asked = (name: string, done: (error: null) => void): void => {
      names.push(name);
      done(null);
    };
    const tls = createTlsServer({ ...server, SNICallback: asked }, (_request, response) => void response.end(document));
    bed.bed.atEnd(async () => void tls.close());
    bed.bed.atEnd(async () => tls.closeAllConnections());
    const options = { tls: { mode: 'tls' as const, ca, sni: 'localhost' } };
    const port = await listening(tls);
    await serve({}, { more: { destinations: [{ id: 'k', name: 'k', host: '127.0.0.1', port, options }] } });
    expect(await ask(token())).to.equal(200);
    expect(names).to.deep.equal(['localhost']);
  });

  it('the destination is asked over TLS as it is configured, and not at all otherwise', async () => {
    const tls = createTlsServer({ cert: server.cert, key: server.key }, (_request, response) => response.end(document));
    bed.bed.atEnd(async () => void tls.close());
    bed.bed.atEnd(async () => tls.closeAllConnections());
    const port = await listening(tls);
    const over = (options: object) =>
      serve({}, { more: { destinations: [{ id: 'k', name: 'k', host: '127.0.0.1', port, options }] } });
    await over({ tls: { mode: 'tls', ca } });
    expect(await ask(token())).to.equal(200);
    const untrusted = new MiddlewareBed();
    try {
      await untrusted.serve([{ type: 'jwt', jwt: { issuer, jwksPath: '/', jwksDestinationId: 'k' } }], {
        more: { destinations: [{ id: 'k', name: 'k', host: '127.0.0.1', port, options: { tls: { mode: 'tls' } } }] },
      });
      const { status } = await untrusted.ask({ headers: { authorization: `Bearer ${token()}` } });
      expect(status).to.equal(401);
    } finally {
      await untrusted.end();
    }
  });
});
