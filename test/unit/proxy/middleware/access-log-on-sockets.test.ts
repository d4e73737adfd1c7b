import { existsSync, readFileSync, renameSync } from 'node:fs';
import { get as plainGet } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import { ca, server } from '../../../support/certificates.ts';
import { eventually } from '../../../support/eventually.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { rejection } from '../../../support/rejection.ts';
import { TemporaryDirectories } from '../../../support/temporary-directory.ts';

describe('access log and rate limit on real sockets', () => {
  const directories = new TemporaryDirectories();
  let bed: MiddlewareBed;
  let path: string;
  beforeEach(async () => {
    bed = new MiddlewareBed();
    path = join(await directories.make(), 'access.log');
  });
  afterEach(async () => {
    await bed.end();
    await directories.removeAll();
  });

  const lines = (file = path) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);
  const untilLines = (count: number, file = path) =>
    eventually(() => {
      const found = lines(file);
      expect(found.length).to.be.at.least(count);
      return found;
    });

  it('rateLimit: 20 allowed are 20, whichever worker counts', async () => {
    await bed.serve([{ type: 'rateLimit', rateLimit: { requestsPerSecond: 0.001, burst: 20 } }]);
    const answers = await Promise.all(Array.from({ length: 60 }, () => bed.ask()));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(20);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(40);
  });

  // Regression: a request that waited for the connection had cleared its head before the line was written.
  it('accessLog: headers of the response are its own when others wait for its connection', async () => {
    const upstream = await bed.bed.upstream((request, response) => {
      response.setHeader('x-path', request.url ?? '');
      response.end('body');
    });
    const fields = { path: '${request.path}', header: '${response.header.x-path}' };
    const place = { host: '127.0.0.1', port: upstream, options: { maxConnsPerHost: 1 } };
    await bed.serve([{ type: 'accessLog', accessLog: { path, json: true, onResponse: { fields } } }], {
      route: { forward: { destinations: [{ destinationId: 'up' }] } },
      more: { destinations: [{ id: 'up', name: 'up', ...place }] },
    });
    await Promise.all(Array.from({ length: 20 }, (_, i) => bed.ask({ path: `/${i}` })));
    for (const line of await untilLines(20)) {
      const { path: asked, header } = JSON.parse(line);
      expect(header).to.equal(asked);
    }
  });

  it('accessLog: what a timer has ended has lasted until then', async () => {
    const silent = await bed.bed.upstream(() => {});
    const fields = { ms: '${duration.ms}', status: '${response.status}' };
    const forward = { destinations: [{ destinationId: 'up' }], timeouts: { request: '150ms' } };
    await bed.serve([{ type: 'accessLog', accessLog: { path, json: true, onResponse: { fields } } }], {
      route: { forward },
      more: { destinations: [{ id: 'up', name: 'up', host: '127.0.0.1', port: silent }] },
    });
    expect(await bed.ask()).to.include({ status: 504 });
    const [line = ''] = await untilLines(1);
    const { ms, status } = JSON.parse(line);
    expect(status).to.equal('504');
    expect(Number(ms)).to.be.at.least(100);
  });

  it('accessLog: a client that is gone before its response begins is 499, as in metrics and recorded requests', async () => {
    let asked = 0;
    const silent = await bed.bed.upstream(() => void asked++);
    const fields = { status: '${response.status}' };
    await bed.serve([{ type: 'accessLog', accessLog: { path, json: true, onResponse: { fields } } }], {
      route: { forward: { destinations: [{ destinationId: 'up' }] } },
      more: { destinations: [{ id: 'up', name: 'up', host: '127.0.0.1', port: silent }] },
    });
    const client = bed.bed.wire(bed.port);
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => expect(asked).to.equal(1));
    client.socket.resetAndDestroy();
    expect(await untilLines(1)).to.deep.equal(['{"status":"499"}']);
  });

  it('accessLog: a line when a request comes and one when its response is complete', async () => {
    bed.answer = { status: 207, headers: { 'x-r': 'from upstream', 'set-cookie': 'a=b' }, body: 'twelve bytes' };
    const fields = {
      id: '${id}',
      status: '${response.status}',
      bytes: '${request.bytes}/${response.bytes}',
      what: '${request.method} ${request.path} ${request.header.x-a} ${protocol}',
      r: '${response.header.x-r} ${response.header.x-added} ${response.header.set-cookie}',
      where: '${destination.id} ${attempts} ${route.name} ${group.name} ${snapshot.id} ${snapshot.index}',
      endpoint: '${endpoint}',
      client: '${request.clientIp}',
    };
    const block = { fields };
    await bed.serve([
      { type: 'accessLog', accessLog: { path, json: true, onRequest: block, onResponse: block } },
      {
        type: 'headers',
        headers: {
          requestHeadersToAdd: [{ key: 'X-A', value: 'set' }],
          responseHeadersToAdd: [{ key: 'X-Added', value: 'added' }],
        },
      },
    ]);
    await bed.ask({ method: 'POST', path: '/p?q=1', headers: { 'x-a': 'sent' }, body: 'abc' });
    const [first, second] = (await untilLines(2)).map((line) => JSON.parse(line));
    expect(first).to.deep.equal({
      ...{ id: first.id, status: '0', bytes: '0/0', what: 'POST /p sent HTTP/1.1', r: '  ' },
      ...{ where: ' 0 r g s1 1', endpoint: '', client: '127.0.0.1' },
    });
    expect(second).to.deep.equal({
      ...{ id: first.id, status: '207', bytes: '3/12', what: 'POST /p set HTTP/1.1' },
      r: 'from upstream added [redacted]',
      where: 'd 1 r g s1 1',
      ...{ endpoint: `127.0.0.1:${bed.upstreamPort}`, client: '127.0.0.1' },
    });
  });

  it('accessLog: sees proxy errors, rejections by what stands further in, and redirects', async () => {
    const log = {
      type: 'accessLog',
      accessLog: { path, onResponse: { fields: { s: '${response.status}', e: '${error}' } } },
    } as const;
    await bed.serve([log], { route: { forward: { destinations: [{ destinationId: 'gone' }] } } });
    await bed.ask();
    await untilLines(1);
    const deny = { type: 'inlineAuthz', inlineAuthz: { rules: [{ cel: 'false', action: 'allow' }] } } as const;
    await bed.serve([log, deny]);
    await bed.ask();
    await untilLines(2);
    await bed.serve([log], { route: { forward: undefined as never, redirect: { path: '/b' } } });
    await bed.ask();
    expect(await untilLines(3)).to.deep.equal(['s=502 e=no_destination', 's=403 e=', 's=301 e=']);
  });

  it('accessLog: names the error of a response that breaks off in its body, and nothing where the client left', async () => {
    const upstream = await bed.bed.upstream((request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => request.url === '/breaks' && response.destroy());
    });
    const fields = { p: '${request.path}', s: '${response.status}', e: '${error}' };
    await bed.serve([{ type: 'accessLog', accessLog: { path, onResponse: { fields } } }], {
      route: { forward: { destinations: [{ destinationId: 'up' }] } },
      more: { destinations: [{ id: 'up', name: 'up', host: '127.0.0.1', port: upstream }] },
    });
    await rejection(bed.ask({ path: '/breaks' }));
    expect(await untilLines(1)).to.deep.equal(['p=/breaks s=200 e=connection_reset']);
    const leaving = plainGet({ host: '127.0.0.1', port: bed.port, path: '/leaves', agent: false }, (response) =>
      response.once('data', () => leaving.destroy()).on('error', () => undefined),
    ).on('error', () => undefined);
    expect((await untilLines(2))[1]).to.equal('p=/leaves s=200 e=');
  });

  it('accessLog: lines are whole and none is missing under many requests', async () => {
    const fields = { n: '${request.header.x-n}', pad: 'x'.repeat(300) };
    await bed.serve([{ type: 'accessLog', accessLog: { path, onResponse: { fields } } }]);
    const wanted = Array.from({ length: 200 }, (_, i) => `n=${i} pad=${'x'.repeat(300)}`);
    await Promise.all(wanted.map((_, i) => bed.ask({ headers: { 'x-n': String(i) } })));
    expect([...(await untilLines(200))].sort()).to.deep.equal(wanted.sort());
  });

  it('accessLog: tells version and server name of TLS, and the scheme', async () => {
    const fields = { v: '${tls.version}', sni: '${tls.sni}', scheme: '${request.scheme}' };
    await bed.serve([{ type: 'accessLog', accessLog: { path, onResponse: { fields } } }], {
      listener: { tls: { cert: server.cert, key: server.key } },
    });
    await new Promise<void>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: bed.port, ca, servername: 'localhost', agent: false };
      get({ ...options, headers: { host: 'localhost' } }, (response) => response.resume().on('end', resolve)).on(
        'error',
        reject,
      );
    });
    expect(await untilLines(1)).to.deep.equal(['v=TLSv1.3 sni=localhost scheme=https']);
  });

  it('accessLog: goes on in a new file after the old one was moved away', async () => {
    const log = { type: 'accessLog', accessLog: { path, onResponse: { fields: { p: '${request.path}' } } } } as const;
    await bed.serve([log]);
    await bed.ask({ path: '/1' });
    await untilLines(1);
    renameSync(path, `${path}.1`);
    bed.bed.proxy.reopenLogs();
    await bed.ask({ path: '/2' });
    expect(await untilLines(1)).to.deep.equal(['p=/2']);
    renameSync(path, `${path}.2`);
    await bed.serve([log]);
    await bed.ask({ path: '/3' });
    expect(await untilLines(1)).to.deep.equal(['p=/3']);
    expect(lines(`${path}.1`)).to.deep.equal(['p=/1']);
  });

  it('accessLog: what came last is written before the proxy has closed', async () => {
    await bed.serve([{ type: 'accessLog', accessLog: { path, onRequest: { fields: { p: '${request.path}' } } } }]);
    await bed.ask({ path: '/last' });
    await bed.bed.proxy.close({ withinMs: 1_000 });
    expect(lines()).to.deep.equal(['p=/last']);
  });
});
