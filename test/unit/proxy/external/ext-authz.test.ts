import { type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createNetServer, type Socket } from 'node:net';
import { expect } from 'chai';
import type { ExtAuthzConfig } from '../../../../src/model/middleware/ext-authz-options.ts';
import { ca, server as certified } from '../../../support/certificates.ts';
import { freePort } from '../../../support/free-port.ts';
import { type Fields, GrpcService } from '../../../support/grpc-service.ts';
import { logCapture } from '../../../support/log-capture.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { listening, rawExchange } from '../../../support/proxy-bed.ts';

describe('extAuthz', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());

  const guardedBy = (port: number, config: Partial<ExtAuthzConfig> = {}): Promise<void> =>
    bed.serve([{ type: 'extAuthz', extAuthz: { destinationId: 'authz', decisionTimeout: '60s', ...config } }], {
      more: { destinations: [{ id: 'authz', name: 'authz', host: '127.0.0.1', port }] },
    });

  describe('over HTTP', () => {
    let checks: { request: IncomingMessage; body: string }[];

    const service = async (answer: RequestListener): Promise<number> => {
      checks = [];
      return bed.bed.upstream((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          checks.push({ request, body: Buffer.concat(chunks).toString() });
          answer(request, response);
        });
      });
    };

    it('asks with the method of the client, the path of the middleware and the headers that were named', async () => {
      const port = await service((_, response) => response.end());
      await guardedBy(port, {
        path: '/check',
        onCheck: {
          forwardHeaders: ['X-Token'],
          injectHeaders: [{ key: 'X-Path', value: '${request.method} ${request.path}' }],
        },
      });
      const { status } = await bed.ask({
        method: 'PUT',
        path: '/a?b',
        headers: { 'x-token': 't', 'x-other': 'o' },
        body: 'x',
      });
      expect(status).to.equal(200);
      const { request, body } = checks[0] ?? expect.fail('not asked');
      expect([request.method, request.url, body]).to.deep.equal(['PUT', '/check', '']);
      expect(request.headers).to.include({ 'x-token': 't', 'x-path': 'PUT /a', host: `127.0.0.1:${port}` });
      expect(request.headers).to.not.have.property('x-other');
      expect(bed.lastBody).to.equal('x');
    });

    it('asks over TLS for the server name that is configured, and trusts no other name', async () => {
      const names: string[] = [];
      const SNICallback = (name: string, done: (error: null) => void): void => {
        names.push(name);
        done(null);
      };
      const service = createTlsServer({ ...certified, SNICallback }, (_, response) => void response.end());
      bed.bed.atEnd(async () => void service.close());
      bed.bed.atEnd(async () => service.closeAllConnections());
      const port = await listening(service);
      const named = (sni: string) =>
        bed.serve([{ type: 'extAuthz', extAuthz: { destinationId: 'authz' } }], {
          more: {
            destinations: [
              { id: 'authz', name: 'authz', host: '127.0.0.1', port, options: { tls: { mode: 'tls', ca, sni } } },
            ],
          },
        });
      await named('localhost');
      const answers = await Promise.all(Array.from({ length: 4 }, () => bed.ask()));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      await named('elsewhere.test');
      expect((await bed.ask()).status).to.equal(403);
      expect(new Set(names)).to.deep.equal(new Set(['localhost', 'elsewhere.test']));
      expect(bed.reached).to.have.length(4);
    });

    it('takes headers of a decision along, and never what the client says in their place', async () => {
      const port = await service((_, response) => {
        response.writeHead(204, { 'x-user': 'ada', 'x-role-a': '1', 'x-seen': 'yes', 'x-secret': 's' }).end();
      });
      await guardedBy(port, { onAllow: { copyToUpstream: ['X-User', 'x-role-*'], copyToClient: ['x-seen'] } });
      const headers = { 'x-user': 'eve', x_user: 'eve', 'x-role-b': 'eve', 'x-kept': 'k' };
      const answer = await bed.ask({ headers });
      expect(bed.lastSent('x-user')).to.equal('ada');
      expect(bed.lastSent('x_user')).to.equal(undefined);
      expect(bed.lastSent('x-role-a')).to.equal('1');
      expect(bed.lastSent('x-role-b')).to.equal(undefined);
      expect(bed.lastSent('x-kept')).to.equal('k');
      expect(bed.lastSent('x-secret')).to.equal(undefined);
      expect(answer.headers).to.include({ 'x-seen': 'yes' });
      expect(answer.headers).to.not.have.property('x-user');
    });

    it('refuses HEAD without a length: that of the body for GET is not known', async () => {
      const port = await service((_, response) => response.writeHead(403, { 'content-length': 7 }).end('refused'));
      await guardedBy(port);
      const refused = await bed.ask({ method: 'HEAD' });
      expect([refused.status, refused.headers['content-length']]).to.deep.equal([403, undefined]);
      expect(await bed.ask()).to.deep.include({ status: 403, body: 'refused' });
    });

    it('takes no header along that the answer names in its own Connection', async () => {
      let status = 204;
      const port = await service((_, response) => {
        const own = { 'x-hop': 'service', connection: 'close, X-Hop,, x-Also', 'x-also': 'service', 'x-user': 'ada' };
        response.writeHead(status, own).end();
      });
      const named = ['x-*', 'connection'];
      await guardedBy(port, {
        onAllow: { copyToUpstream: named, copyToClient: named },
        onDeny: { copyToClient: named },
      });
      const answer = await bed.ask({ headers: { 'x-hop': 'client' } });
      expect(['x-user', 'x-hop', 'x-also'].map((name) => bed.lastSent(name))).to.deep.equal([
        'ada',
        undefined,
        undefined,
      ]);
      expect(answer.headers).to.include({ 'x-user': 'ada' });
      expect(answer.headers).to.not.have.any.keys('x-hop', 'x-also');
      status = 401;
      const denied = await bed.ask();
      expect(denied.headers).to.include({ 'x-user': 'ada' });
      expect(denied.headers).to.not.have.any.keys('x-hop', 'x-also');
    });

    it('gives a denial to the client: status, body, the usual four headers and those that were named', async () => {
      const port = await service((_, response) => {
        const headers = { location: '/login', 'set-cookie': ['a=1', 'b=2'], 'x-why': 'no', 'x-hidden': 'h' };
        response.writeHead(302, { 'content-type': 'text/x', 'www-authenticate': 'Basic', ...headers }).end('go away');
      });
      await guardedBy(port, { onDeny: { copyToClient: ['x-w*'] } });
      const { status, headers, body } = await bed.ask();
      expect([status, body]).to.deep.equal([302, 'go away']);
      expect(headers).to.include({ location: '/login', 'content-type': 'text/x', 'x-why': 'no' });
      expect(headers['set-cookie']).to.deep.equal(['a=1', 'b=2']);
      expect(headers).to.not.have.property('x-hidden');
      expect(bed.reached).to.have.length(0);
    });

    it('shows the body when it is to, and forwards it all the same', async () => {
      const port = await service((_, response) => response.end());
      await guardedBy(port, { includeBody: true });
      const sent = 'b'.repeat(200_000);
      await bed.ask({ method: 'POST', body: sent });
      expect(checks[0]?.body).to.equal(sent);
      expect(bed.lastBody).to.equal(sent);
    });

    it('refuses when the service says nothing in time', async () => {
      const port = await service(() => {});
      await guardedBy(port, { decisionTimeout: '50ms' });
      const { status, headers, body } = await bed.ask();
      expect([status, body]).to.deep.equal([403, '{"error":"ext_authz: timeout"}']);
      expect(headers['content-type']).to.equal('application/json');
      expect(bed.reached).to.have.length(0);
    });

    // The signal of a request that has no connection yet was heard only once it had one.
    it('refuses in time when the service never ends its handshake', async () => {
      const sockets: Socket[] = [];
      const silent = createNetServer((socket) => sockets.push(socket.on('error', () => {})));
      bed.bed.atEnd(async () => {
        silent.close();
        for (const socket of sockets) socket.destroy();
      });
      const destination = {
        host: '127.0.0.1',
        port: await listening(silent),
        options: { tls: { mode: 'tls' as const }, timeouts: { connect: '10m' } },
      };
      await bed.serve([{ type: 'extAuthz', extAuthz: { destinationId: 'authz', decisionTimeout: '50ms' } }], {
        more: { destinations: [{ id: 'authz', name: 'authz', ...destination }] },
      });
      const { status, body } = await bed.ask();
      expect([status, body]).to.deep.equal([403, '{"error":"ext_authz: timeout"}']);
    });
  });

  describe('over gRPC', () => {
    const grpc = async (answer: (request: Fields) => Fields | Error | undefined): Promise<number> => {
      const service = new GrpcService().unary('extauthz.proto', 'extauthz.v1.Authorizer', 'Check', answer);
      bed.bed.atEnd(async () => service.stop());
      return service.start();
    };

    it('shows method, target, headers and body, and takes every header of an allowed answer', async () => {
      let asked: Fields = {};
      const port = await grpc((request) => {
        asked = request;
        return { allowed: true, headers: [{ key: 'x-user', value: 'ädä' }] };
      });
      await guardedBy(port, { mode: 'grpc', includeBody: true, onCheck: { forwardHeaders: ['X-Token'] } });
      const { status } = await bed.ask({ method: 'POST', path: '/a?b=1', headers: { 'X-Token': 't' }, body: 'hi' });
      expect(status).to.equal(200);
      expect(asked).to.deep.include({ method: 'POST', path: '/a?b=1', headers: [{ key: 'x-token', value: 't' }] });
      expect(String(asked.body)).to.equal('hi');
      expect(Buffer.from(String(bed.lastSent('x-user')), 'latin1').toString()).to.equal('ädä');
    });

    it('gives status, headers and body of a denial, 403 when it names none', async () => {
      let denied: Fields = {
        denied_status: 429,
        headers: [{ key: 'X-Wait', value: '1' }],
        denied_body: Buffer.from('slow'),
      };
      const port = await grpc(() => denied);
      await guardedBy(port, { mode: 'grpc' });
      const first = await bed.ask();
      expect([first.status, first.headers['x-wait'], first.body]).to.deep.equal([429, '1', 'slow']);
      denied = {};
      expect((await bed.ask()).status).to.equal(403);
      expect(bed.reached).to.have.length(0);
    });

    it('lets no denial begin a field of its own by a line break', async () => {
      const split = { key: 'x-split', value: 'a\r\nx-begun: b' };
      const named = { key: 'x-name: c\r\nx-begun', value: 'b' };
      await guardedBy(await grpc(() => ({ headers: [split, named, { key: 'x-why', value: 'w' }] })), { mode: 'grpc' });
      const { status, headers } = await bed.ask();
      expect([status, headers['x-why']]).to.deep.equal([403, 'w']);
      expect(headers).to.not.have.any.keys('x-split', 'x-name', 'x-begun');
    });

    it('asks many at a time over one connection, and a service that comes back is asked again', async () => {
      const port = await grpc(() => ({ allowed: true }));
      await guardedBy(port, { mode: 'grpc' });
      const answers = await Promise.all(Array.from({ length: 50 }, () => bed.ask()));
      expect(answers.map(({ status }) => status)).to.deep.equal(new Array(50).fill(200));
    });
  });

  describe('as Envoy asks', () => {
    const envoy = async (answer: (request: Fields) => Fields): Promise<number> => {
      const service = new GrpcService().unary('envoy.proto', 'envoy.service.auth.v3.Authorization', 'Check', answer);
      bed.bed.atEnd(async () => service.stop());
      return service.start();
    };
    const config = { mode: 'grpc', protocol: 'envoy' } as const;

    it('shows attributes, and follows headers, removals, client headers and query edits of ok_response', async () => {
      let asked: Fields = {};
      const port = await envoy((request) => {
        asked = request;
        return {
          status: { code: 0 },
          ok_response: {
            headers: [
              { header: { key: 'x-set', value: 'new' } },
              { header: { key: 'x-more', value: '2' }, append: { value: true } },
              { header: { key: 'x-here', value: 'other' }, append_action: 1 },
            ],
            headers_to_remove: ['x-gone'],
            response_headers_to_add: [{ header: { key: 'x-client', value: 'c' } }],
            query_parameters_to_set: [{ key: 'q', value: '2' }],
            query_parameters_to_remove: ['r'],
          },
        };
      });
      await guardedBy(port, config);
      const headers = { 'x-set': 'old', 'x-more': '1', 'x-here': 'h', 'x-gone': 'g' };
      const answer = await bed.ask({ path: '/p?q=1&r=1', headers });
      const http = ((asked.attributes as Fields).request as Fields).http as Fields;
      expect(http).to.deep.include({ method: 'GET', path: '/p?q=1&r=1', scheme: 'http', protocol: 'HTTP/1.1' });
      expect(http.headers).to.include({ ':method': 'GET', 'x-gone': 'g' });
      const source = ((asked.attributes as Fields).source as Fields).address as Fields;
      expect((source.socket_address as Fields).address).to.equal('127.0.0.1');
      expect(bed.lastSent('x-set')).to.equal('new');
      expect(bed.lastSent('x-more')).to.deep.equal(['1', '2']);
      expect(bed.lastSent('x-here')).to.equal('h');
      expect(bed.lastSent('x-gone')).to.equal(undefined);
      expect(bed.reached[0]?.url).to.equal('/p?q=2');
      expect(answer.headers['x-client']).to.equal('c');
    });

    it('leaves the client no other spelling of a name that the service decides about', async () => {
      const port = await envoy(() => ({
        status: { code: 0 },
        ok_response: { headers: [{ header: { key: 'x-user', value: 'ada' } }], headers_to_remove: ['x-role'] },
      }));
      await guardedBy(port, config);
      const headers = { 'x-user': 'eve', x_user: 'eve', X_Role: 'admin', 'x-role': 'admin', x_kept: 'k' };
      expect((await bed.ask({ headers })).status).to.equal(200);
      const sent = ['x-user', 'x_user', 'x-role', 'x_role', 'x_kept'].map((name) => bed.lastSent(name));
      expect(sent).to.deep.equal(['ada', undefined, undefined, undefined, 'k']);
    });

    it('hides no header of the client from the service by its name', async () => {
      const service = createHttp2Server();
      const shown = new Promise<Buffer>((resolve) => service.on('stream', (stream) => stream.once('data', resolve)));
      bed.bed.atEnd(async () => void service.close());
      await guardedBy(await listening(service), { ...config, decisionTimeout: '100ms' });
      const names = ['__proto__', 'constructor', 'toString'];
      const lines = names.map((name) => `${name}: shown-${name}\r\n`).join('');
      await rawExchange(bed.port, `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`);
      const text = (await shown).toString('latin1');
      for (const name of names) expect(text).to.include(`shown-${name}`);
    });

    it('is told once of metadata that is ignored', async () => {
      const { logger, lines } = logCapture();
      await bed.end();
      bed = new MiddlewareBed({ logger });
      await guardedBy(await envoy(() => ({ status: { code: 0 }, dynamic_metadata: { fields: { a: 'b' } } })), config);
      for (let i = 0; i < 3; i++) expect((await bed.ask()).status).to.equal(200);
      await bed.bed.proxy.close({ withinMs: 0 });
      expect(lines.filter((line) => line.includes('dynamic_metadata'))).to.have.length(1);
    });

    it('lets no denial begin a field of its own by a line break', async () => {
      const split = { header: { key: 'x-split', value: 'a\r\nx-begun: b' } };
      const raw = { header: { key: 'x-raw', raw_value: Buffer.from('a\nx-begun: b') } };
      const denied_response = { headers: [split, raw, { header: { key: 'x-why', value: 'w' } }] };
      await guardedBy(await envoy(() => ({ status: { code: 7 }, denied_response })), config);
      const { status, headers } = await bed.ask();
      expect([status, headers['x-why']]).to.deep.equal([403, 'w']);
      expect(headers).to.not.have.any.keys('x-split', 'x-raw', 'x-begun');
    });

    it('gives denied_response to the client, 403 when it has no status, and takes error_response for a failure', async () => {
      let answer: Fields = {
        status: { code: 7 },
        denied_response: { status: { code: 401 }, headers: [{ header: { key: 'x-a', value: 'b' } }], body: 'no' },
      };
      const port = await envoy(() => answer);
      await guardedBy(port, config);
      const denied = await bed.ask();
      expect([denied.status, denied.headers['x-a'], denied.body]).to.deep.equal([401, 'b', 'no']);
      answer = { status: { code: 16 } };
      expect((await bed.ask()).status).to.equal(403);
      answer = { status: { code: 0 }, error_response: { status: { code: 500 } } };
      expect((await bed.ask()).body).to.equal('{"error":"ext_authz: the service reports an error"}');
      await guardedBy(port, { ...config, failureModeAllow: true });
      expect((await bed.ask()).status).to.equal(200);
    });
  });

  describe('that cannot be asked', () => {
    const babbling = (): Promise<number> => {
      const server = createNetServer((socket) => {
        socket.on('error', () => {}).resume();
        socket.end('rubbish\r\n\r\n');
      });
      bed.bed.atEnd(async () => void server.close());
      return listening(server);
    };
    const ways: Readonly<Record<string, (mode: 'http' | 'grpc') => Promise<Partial<ExtAuthzConfig>>>> = {
      'missing destination': async (mode) => {
        await guardedBy(1, { mode, destinationId: 'nobody' });
        return { destinationId: 'nobody' };
      },
      refused: async () => ({}),
      garbage: async () => ({}),
    };
    for (const mode of ['http', 'grpc'] as const) {
      for (const way of Object.keys(ways)) {
        it(`keeps requests from the upstream: ${mode}, ${way}; unless failureModeAllow`, async () => {
          const port = way === 'garbage' ? await babbling() : await freePort();
          const config = { mode, ...(await ways[way]?.(mode)) } as const;
          await guardedBy(port, { ...config, onAllow: { copyToUpstream: ['x-user'] } });
          const closed = await bed.ask({ headers: { 'x-user': 'eve' } });
          expect(closed.status).to.equal(403);
          expect(closed.body).to.match(/^\{"error":"ext_authz: .+"\}$/);
          expect(bed.reached).to.have.length(0);
          await guardedBy(port, { ...config, failureModeAllow: true, onAllow: { copyToUpstream: ['x-user'] } });
          expect((await bed.ask({ headers: { 'x-user': 'eve' } })).status).to.equal(200);
          expect(bed.lastSent('x-user')).to.equal(undefined);
        });
      }
    }
  });
});
