import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { settled } from '../support/eventually.ts';
import { body } from '../support/resources.ts';

// contract.md §0.2, §0.4, §3.1 and §3.4: everything around the operations themselves.
describe('transport', () => {
  let api: ApiServer;

  before(async () => {
    api = await ApiServer.start();
  });

  after(() => api.stop());

  /** Text received until the server closes. */
  const exchanged = async (bytes: string): Promise<string> => {
    const socket = connect(api.api.address.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.write(bytes);
    await once(socket, 'end');
    socket.destroy();
    return text;
  };

  describe('paths', () => {
    const unknown = [
      '//api',
      '//api/v1/',
      '/nothing',
      '/routes/',
      '/routes/a/b',
      '//docs/',
      '/docs/nothing',
      '/snapshots/x/activate/',
      '//healthz/',
      '/healthz/',
    ];
    it('answers with an index at the address that the start prints', async () => {
      const { status, headers, json } = await api.call('GET', '//api/v1');
      expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
      for (const [name, place] of Object.entries(json as Record<string, string>)) {
        // The dashboard is there where the program is built.
        if (place.startsWith('/') && name !== 'dashboard')
          expect(await api.call('GET', `/${place}`), name).to.include({ status: 200 });
      }
      expect(await api.call('POST', '//api/v1')).to.include({ status: 405 });
    });

    for (const path of unknown) {
      it(`answers 404 for ${path}`, async () => {
        const { status, headers, json } = await api.call('GET', path);
        expect(status).to.equal(404);
        expect(headers['content-type']).to.equal('application/json');
        expect(json).to.have.all.keys('error');
      });
    }

    const wrong: [method: string, path: string, allow: string][] = [
      ['PATCH', '/routes', 'GET, HEAD, POST'],
      ['PATCH', '/routes/a', 'DELETE, GET, HEAD, PUT'],
      ['POST', '/routes/a', 'DELETE, GET, HEAD, PUT'],
      ['PUT', '/snapshots/a', 'DELETE, GET, HEAD'],
      ['GET', '/snapshots/a/activate', 'POST'],
      ['OPTIONS', '/snapshots', 'GET, HEAD, POST'],
      ['POST', '//healthz', 'GET, HEAD'],
      ['DELETE', '/sync/snapshot', 'GET, HEAD'],
      ['GET', '//sync/raft', 'POST'],
      ['POST', '/docs/', 'GET, HEAD'],
      ['POST', '/docs/swagger-ui.css', 'GET, HEAD'],
      ['POST', '/docs/doc.json', 'GET, HEAD'],
      ['PATCH', '/%72outes', 'GET, HEAD, POST'],
      ['PATCH', '/routes/a%2Fb', 'DELETE, GET, HEAD, PUT'],
    ];
    for (const [method, path, allow] of wrong) {
      it(`answers 405 for ${method} ${path} and names ${allow}`, async () => {
        const { status, headers, json } = await api.call(method, path);
        expect(status).to.equal(405);
        expect(headers.allow).to.equal(allow);
        expect(json).to.have.all.keys('error');
      });
    }

    it('answers 405 with Allow for a target in absolute form', async () => {
      const text = await exchanged(
        'PATCH http://localhost/api/v1/routes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      );
      expect(text).to.match(/^HTTP\/1\.1 405 /);
      expect(text.toLowerCase()).to.contain('allow: get, head, post\r\n');
    });

    it('answers 404 for POST to a path below docs that is not there', async () => {
      expect(await api.call('POST', '/docs/none')).to.include({ status: 404 });
      expect(await api.call('POST', '/docs/doc.json/x')).to.include({ status: 404 });
    });

    for (const path of ['/routes/%zz', '//%', '/routes/%c3%28']) {
      it(`answers 400 or 404 in the usual form for the malformed ${path}`, async () => {
        const { status, headers, json } = await api.call('GET', path);
        expect(status).to.be.oneOf([400, 404]);
        expect(headers['content-type']).to.equal('application/json');
        expect(json).to.have.all.keys('error');
      });
    }

    it('takes an id of 512 characters, and of characters that are escaped', async () => {
      const id = `a:~._-${'x'.repeat(506)}`;
      await api.call('POST', '/groups', { body: body('groups', 'long', { id }) });
      expect(await api.call('GET', `/groups/${encodeURIComponent(id)}`)).to.include({ status: 200 });
      expect(await api.call('GET', `/groups/${'y'.repeat(2000)}`)).to.include({ status: 404 });
    });
  });

  describe('bytes that are no HTTP', () => {
    const corpus: [bytes: string, status: number][] = [
      ['nonsense\r\n\r\n', 400],
      ['\u0000\u0001\u0002\r\n\r\n', 400],
      ['GET / HTTP/9.9\r\n\r\n', 400],
      ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n\r\n', 400],
      ['CONNECT x:25 HTTP/1.1\r\nHost: x:25\r\n\r\n', 405],
      [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ];
    for (const [bytes, status] of corpus) {
      it(`answers ${JSON.stringify(bytes.slice(0, 60))} with ${status} in the usual form and closes`, async () => {
        const text = await exchanged(bytes);
        expect(text.slice(0, 13)).to.equal(`HTTP/1.1 ${status} `);
        expect(text.toLowerCase()).to.contain('content-type: application/json\r\n');
        expect(text).to.match(/\r\ndate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n/i);
        expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).to.have.all.keys('error');
      });
    }
  });

  describe('hosts (S30)', () => {
    const wrong: [host: string, target: string][] = [
      ['', '/api/v1/groups'],
      ['a b', '/api/v1/groups'],
      ['localhost:99999', '/api/v1/groups'],
      ['localhost:x', '/api/v1/groups'],
      ['user@localhost', '/api/v1/groups'],
      ['127.0.0.1', 'http://evil.test/api/v1/groups'],
      ['127.0.0.1', 'http://user@127.0.0.1/api/v1/groups'],
      ['127.0.0.1', 'http://127.0.0.1:1/api/v1/groups'],
    ];
    for (const [host, target] of wrong) {
      it(`are 400 as ${JSON.stringify(host)} for ${target}`, async () => {
        const text = await exchanged(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        expect(text).to.match(/^HTTP\/1\.1 400 /);
        expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).to.have.all.keys('error');
      });
    }
    for (const [host, target] of [
      ['LOCALHOST:', '/api/v1/groups'],
      ['[::1]:80', '/api/v1/groups'],
      ['localhost:80', 'HTTP://LocalHost:80/api/v1/groups'],
    ]) {
      it(`are served as ${host} for ${target}`, async () => {
        const text = await exchanged(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
        expect(text).to.match(/^HTTP\/1\.1 200 /);
      });
    }
  });

  it('ignores an expectation that it does not know, where Node refuses without a body', async () => {
    const answer = await api.call('POST', '/groups', {
      headers: { expect: 'wonders' },
      body: body('groups', 'expected'),
    });
    expect(answer.status).to.equal(201);
  });

  describe('bodies', () => {
    const types = [
      undefined,
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-8',
      'application/json;',
      'multipart/form-data',
      ';;',
      '',
    ];
    for (const [index, type] of types.entries()) {
      it(`are JSON with the content type ${type}`, async () => {
        const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
        const answer = await api.call('POST', '/groups', { headers, body: body('groups', `type-${index}`) });
        expect(answer.status).to.equal(201);
        const faulty = await api.call('POST', '/groups', { headers, body: { name: 7 } });
        expect(faulty.status).to.equal(400);
      });
    }

    for (const text of ['', '{', '[]', 'null', '1', '"a"', 'name=a', '\u0000', '{"name":"a"']) {
      it(`are 400 as ${JSON.stringify(text)}`, async () => {
        const { status, json, headers } = await api.call('POST', '/groups', { body: text });
        expect(status).to.equal(400);
        expect(json).to.have.all.keys('error');
        expect(headers['content-type']).to.equal('application/json');
      });
    }

    it('may be 4 MiB and no more, on every path that takes one', async () => {
      const limit = 4 * 1024 * 1024;
      const exact = JSON.stringify(body('secrets', 'big', { value: '' }));
      const fitting = JSON.stringify(body('secrets', 'big', { value: 'x'.repeat(limit - exact.length) }));
      expect(fitting.length).to.equal(limit);
      expect(await api.call('POST', '/secrets', { body: fitting })).to.include({ status: 201 });
      for (const [method, path] of [
        ['POST', '/secrets'],
        ['PUT', '/secrets/a'],
        ['POST', '/snapshots/a/activate'],
        ['DELETE', '/secrets/a'],
      ] as const) {
        const answer = await api.call(method, path, { body: `${fitting} ` });
        expect(answer, `${method} ${path}`).to.include({ status: 413 });
        expect(answer.json).to.deep.equal({ error: 'body is larger than 4 MiB' });
      }
    });

    it('with prototype keys change nothing and are refused (S31)', async () => {
      for (const text of [
        '{"name":"p","__proto__":{"polluted":1}}',
        '{"name":"p","constructor":{"prototype":{"polluted":1}}}',
        '{"name":"p","middlewareOverrides":{"__proto__":{"disabled":true}}}',
        '{"name":"p","name":"q","toString":"x"}',
      ]) {
        const { status } = await api.call('POST', '/groups?fieldValidation=strict', { body: text });
        expect(status, text).to.equal(400);
        expect({}).to.not.have.property('polluted');
        expect(Object.prototype.toString.call([])).to.equal('[object Array]');
      }
    });
  });

  describe('pipelined requests', () => {
    it('take effect in the order in which they were sent, and each finds what those before it left', async () => {
      const [sent, statuses]: [string[], number[]] = [[], []];
      const send = (status: number, method: string, path: string, value?: object, more = ''): void => {
        const text = value === undefined ? '' : JSON.stringify(value);
        sent.push(
          `${method} /api/v1${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text.length}\r\n${more}\r\n${text}`,
        );
        statuses.push(status);
      };
      for (let round = 0; round < 5; round++) {
        send(201, 'POST', '/groups', { id: 'piped', name: 'piped' });
        send(200, 'PUT', '/groups/piped', { name: `piped ${round}` });
        send(200, 'GET', '/groups/piped?consistency=stale');
        send(204, 'DELETE', '/groups/piped');
        send(404, 'GET', '/groups/piped?consistency=stale');
      }
      send(200, 'GET', '/healthz', undefined, 'Connection: close\r\n');
      const text = await exchanged(sent.join(''));
      expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).to.deep.equal(statuses);
      expect(text).to.contain('"name":"piped 4"');
    });

    it('are not taken in without bound behind one that does not end', async () => {
      const socket = connect(api.api.address.port, '127.0.0.1');
      socket.resume();
      try {
        socket.write('GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
        // More than both ends of the connection keep.
        const [piece, pieces] = [Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_000)), 300];
        let taken = 0;
        const push = (): void => {
          taken += 1;
          if (taken < pieces) socket.write(piece, push);
        };
        socket.write(piece, push);
        expect(await settled(() => taken, 60)).to.be.below(pieces);
      } finally {
        socket.destroy();
      }
    });

    it('keep their answers where what comes behind them is no HTTP', async () => {
      const write = (name: string, more = '') =>
        `POST /api/v1/groups HTTP/1.1\r\nHost: localhost\r\n${more}Content-Length: ${name.length + 11}\r\n\r\n{"name":"${name}"}`;
      const statuses = async (bytes: string) =>
        [...(await exchanged(bytes)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
      expect(await statuses(`${write('before garbage')}FOO\r\n\r\n`)).to.deep.equal([201, 400]);
      expect(await statuses(`${write('one')}${write('two')}FOO\r\n\r\n`)).to.deep.equal([201, 201, 400]);
      expect(await statuses(`${write('last', 'Connection: close\r\n')}FOO\r\n\r\n`)).to.deep.equal([201]);
    });

    it('are all answered, however many they are', async () => {
      const count = 5_000;
      const text = await exchanged(
        'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count - 1) +
          'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      );
      expect(text.match(/HTTP\/1\.1 200 /g)).to.have.length(count);
    });
  });

  describe('parameters', () => {
    it('that a change does not know refuse it: they may be what was to hold it back', async () => {
      await api.call('POST', '/groups', { body: body('groups', 'kept', { id: 'kept' }) });
      const captured = await api.call('POST', '/snapshots', { body: { name: 'kept' } });
      const { id } = captured.json as { id: string };
      const batch = { operations: [{ op: 'delete', kind: 'groups', id: 'kept' }] };
      for (const [method, path, name, sent] of [
        ['POST', '/batch?dryrun=true', 'dryrun', batch],
        ['POST', '/batch?dryRun=true&dry=1', 'dry', batch],
        ['POST', `/snapshots/${id}/activate?confirmwithin=60s`, 'confirmwithin', undefined],
        ['DELETE', '/groups/kept?dryRun=true', 'dryRun', undefined],
        ['PUT', '/groups/kept?strict=true', 'strict', body('groups', 'other')],
        ['POST', '/groups?%64ryRun', 'dryRun', body('groups', 'other')],
        ['DELETE', '/cluster/members/a?incarnation=7', 'incarnation', undefined],
        ['POST', '/rollback?toString', 'toString', undefined],
      ] as const) {
        const answer = await api.call(method, path, { body: sent });
        expect(answer.status, `${method} ${path}`).to.equal(400);
        expect((answer.json as { error: string }).error).to.match(new RegExp(`^unknown parameter "${name}": `));
      }
      expect((await api.call('GET', '/groups/kept')).json).to.include({ name: 'kept' });
      expect((await api.call('GET', '/activations')).json).to.deep.equal([]);
    });

    it('of reads change nothing about a write, and reads take any', async () => {
      const created = await api.call('POST', '/groups?consistency=stale&minRevision=1&fieldValidation=strict', {
        body: body('groups', 'read-like'),
      });
      expect(created.status).to.equal(201);
      expect(await api.call('GET', '/groups?_=17&pretty')).to.include({ status: 200 });
      await api.call('POST', '/secrets', { body: body('secrets', 's', { id: 's' }) });
      expect(await api.call('GET', '/secrets/s?_=17&pretty')).to.include({ status: 200 });
      expect(await api.call('GET', '/cluster/backup?_=17')).to.include({ status: 409 });
      expect(JSON.stringify(await api.call('POST', '/explain?_=17', { body: {} }))).not.to.contain('parameter');
    });
  });

  describe('the order of checks', () => {
    it('is path and method → existence → parse → validation → precondition → conflict', async () => {
      await api.call('POST', '/groups', { body: body('groups', 'taken', { id: 'taken' }) });
      await api.call('POST', '/groups', { body: body('groups', 'mine', { id: 'mine' }) });
      const other = { 'if-match': '"1"' };
      expect(await api.call('PATCH', '/groups/none', { body: '{' })).to.include({ status: 405 });
      expect(await api.call('PUT', '/groups/none', { body: '{' })).to.include({ status: 404 });
      expect(await api.call('PUT', '/groups/mine', { body: '{', headers: other })).to.include({ status: 400 });
      expect(await api.call('PUT', '/groups/mine', { body: { name: 7 }, headers: other })).to.include({ status: 400 });
      const taken = body('groups', 'taken');
      expect(await api.call('PUT', '/groups/mine', { body: taken, headers: other })).to.include({ status: 412 });
      expect(await api.call('PUT', '/groups/mine', { body: taken })).to.include({ status: 409 });
    });
  });

  describe('other endpoints', () => {
    it('are no such path with a slash at the end, with any method', async () => {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        for (const path of ['/routes/', '/snapshots/', '/cluster/', '/cluster/members/'])
          expect(await api.call(method, path, { body: {} }), `${method} ${path}`).to.deep.include({
            status: 404,
            json: { error: `no such path: /api/v1${path}` },
          });
    });

    it('has /healthz and /readyz at the root and where the document says', async () => {
      for (const path of ['//healthz', '//readyz', '/healthz', '/readyz']) {
        expect(await api.call('GET', path)).to.deep.include({ status: 200, json: { status: 'ok' } });
        expect(await api.call('HEAD', path)).to.include({ status: 200, text: '' });
      }
    });

    it('answers 503 to a relay while no cluster is configured, under both paths', async () => {
      for (const path of ['//sync/raft', '/sync/raft']) {
        const { status, json } = await api.call('POST', path, { body: {} });
        expect({ status, json }).to.deep.equal({ status: 503, json: { error: 'cluster mode not active' } });
      }
    });

    it('redirects /api/v1/docs to the explorer and serves it under a strict policy', async () => {
      const redirect = await api.call('GET', '/docs');
      expect(redirect.status).to.equal(301);
      expect(redirect.headers.location).to.equal('/api/v1/docs/');
      const page = await api.call('GET', '/docs/');
      expect(page.status).to.equal(200);
      expect(page.headers['content-type']).to.match(/^text\/html/);
      expect(page.headers['content-security-policy']).to.contain("default-src 'none'");
      const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
      expect(assets).to.have.length(4);
      for (const asset of assets) expect(await api.call('GET', `/docs/${asset}`), asset).to.include({ status: 200 });
      expect(page.text).to.not.match(/https?:\/\//);
    });

    it('gives no file but the four of the explorer', async () => {
      for (const name of [
        'package.json',
        '../package.json',
        '..%2fpackage.json',
        '%2e%2e/package.json',
        'constructor',
      ]) {
        expect(await api.call('GET', `/docs/${name}`), name).to.include({ status: 404 });
      }
    });
  });
});
