import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { endOf } from '../support/sluice-process.ts';
import { answer, closeStubs, levelStub, listening, stub } from '../support/stub-server.ts';

const chunksFile = new URL('../../dist/chunks.json', import.meta.url);

/** Module for `--require` that writes what the process has loaded: modules of Node, and files of the build. */
const tellsLoaded = `const files = [];
require('node:module').registerHooks({
  load(url, context, next) {
    files.push(url.split('/dist/').at(-1));
    return next(url, context);
  },
});
process.on('exit', () =>
  require('node:fs').writeFileSync('loaded.json', JSON.stringify([...files, ...process.moduleLoadList])),
);
`;

describe('faults that the client of the command line meets', () => {
  afterEach(closeStubs);

  it('a server that is not there is exit code 5, and the next one is asked', async () => {
    const away = `http://127.0.0.1:${await freePort()}`;
    const alone = await new Client({ servers: [away] }).run(['get', 'routes']);
    expect(alone.code).to.equal(5);
    expect(alone.stderr).to.contain(`no server can be reached: ${away}: connect ECONNREFUSED`);
    const both = new Client({ servers: [away, await stub(answer([{ id: 'a', name: 'a', type: 'cors' }]))] });
    expect(await both.output('get', 'middlewares', '-o', 'name')).to.equal('middlewares/a\n');
  });

  it('a server that is silent leaves the next one its time', async () => {
    const silent = await stub((request) => request.resume());
    const next = await stub(answer([{ id: 'a', name: 'a', type: 'cors' }]));
    const client = new Client({ servers: [silent, next] });
    expect(await client.output('get', 'middlewares', '-o', 'name', '--timeout', '2s')).to.equal('middlewares/a\n');
  });

  it('an older server is named with what it lacks', async () => {
    const old = await stub(answer({ error: 'no such path: /api/v1/whoami' }, 404));
    const { code, stderr } = await new Client({ servers: [] }).run(['login', '--server', old, '--yes']);
    expect(code).to.equal(4);
    expect(stderr).to.equal(
      `sluice: sluice login needs GET /api/v1/whoami, which the server at ${old} does not have: it is of an older version\n`,
    );
  });

  it('an older server is named with what an apply of very many changes needs of it', async () => {
    const old = await stub((request, response) => {
      if (request.url?.startsWith('/api/v1/batch/large') !== true)
        return answer([], 200, { etag: '"1"' })(request, response);
      answer({ error: 'no such path: /api/v1/batch/large' }, 404)(request, response);
    });
    const client = new Client({ servers: [old] });
    const list = Array.from({ length: 20_001 }, (_, n) => `- { name: d${n}, host: a.internal, port: 1 }\n`);
    client.write('a.yaml', `destinations:\n${list.join('')}`);
    const { code, stderr } = await client.run(['apply', '-f', 'a.yaml']);
    expect(code).to.equal(4);
    expect(stderr).to.equal(
      `sluice: sluice apply needs POST /api/v1/batch/large, which the server at ${old} does not have: it is of an older version\n`,
    );
  });

  it('a certificate that is not trusted is exit code 5, and --ca trusts it', async () => {
    const { cert, key } = makeCertificate({ dnsNames: ['sluice.test'], addresses: ['127.0.0.1'], authority: true });
    const place = await listening(createSecureServer({ cert, key }, answer([])));
    const client = new Client({ servers: [`https://${place}`] });
    const { code, stderr } = await client.run(['get', 'routes']);
    expect(code).to.equal(5);
    expect(stderr).to.contain(`the certificate of https://${place} is not trusted`).and.to.contain('--ca');
    client.write('ca.pem', cert);
    expect(await client.output('get', 'routes', '-o', 'json', '--ca', 'ca.pem')).to.equal('[]\n');
  });

  it('a certificate in the way is told for what it is: expired, of another name, or missing at the client', async () => {
    const addresses = ['127.0.0.1'];
    const wishes = [
      [
        { addresses, authority: true, until: new Date(Date.now() - 60_000) },
        {},
        /is not trusted: certificate has expired$/,
      ],
      [
        { dnsNames: ['other.test'], authority: true },
        {},
        /is not trusted: Hostname\/IP does not match certificate's altnames[^;]*$/,
      ],
      [
        { addresses, authority: true },
        { requestCert: true, rejectUnauthorized: true },
        /takes no connection without a certificate that it trusts: --cert, --key; /,
      ],
    ] as const;
    for (const [wish, options, told] of wishes) {
      const { cert, key } = makeCertificate(wish);
      const place = await listening(createSecureServer({ cert, key, ...options }, answer([])));
      const client = new Client({ servers: [`https://${place}`] });
      client.write('ca.pem', cert);
      const { code, stderr } = await client.run(['get', 'routes', '--ca', 'ca.pem']);
      expect(stderr.trimEnd()).to.match(told);
      expect(code).to.equal(5);
    }
    const plain = await stub(answer([]));
    const { code, stderr } = await new Client({ servers: [plain.replace('http', 'https')] }).run(['get', 'routes']);
    expect(stderr).to.contain('the server does not speak TLS: is its address http://?');
    expect(code).to.equal(5);
  });

  it('a write that one node broke off is repeated at the next under the same Idempotency-Key', async () => {
    const keys: unknown[] = [];
    const dying = await stub((request, response) => {
      if (request.method === 'GET') return answer([], 200, { etag: '"1"' })(request, response);
      keys.push(request.headers['idempotency-key']);
      request.socket.destroy();
    });
    const next = await stub((request, response) => {
      keys.push(request.headers['idempotency-key']);
      answer({ index: 1, results: [{ kind: 'secrets', id: 'a', changed: true }] })(request, response);
    });
    const client = new Client({ servers: [dying, next] });
    expect((await client.run(['secret', 'set', 'a'], 'value')).stdout).to.contain('{{secret:value:a}}');
    expect(keys).to.have.length(2);
    expect(keys[0]).to.be.a('string').and.to.equal(keys[1]);
  });

  it('an interruption ends with 130 and says what is under way', async () => {
    let asked: (() => void) | undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const slow = await stub((request, response) => {
      if (!request.url?.startsWith('/api/v1/batch?fieldValidation')) return answer([])(request, response);
      request.resume();
      asked?.();
    });
    const client = new Client({ servers: [slow] });
    client.write('a.yaml', 'destinations:\n  - { name: a, host: a.internal, port: 1 }\n');
    const child = client.start('apply', '-f', 'a.yaml');
    const ended = endOf(child);
    await isAsked;
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).to.equal(130);
    expect(stderr).to.contain(
      'interrupted: the batch may have been taken; sluice diff -f tells, and nothing is live by it',
    );
  });

  it('an interruption while a level of the log is set for a time sets it back', async () => {
    const levels: string[] = [];
    const slow = await levelStub(levels, async () => {
      if (levels.length > 1) return;
      child.kill('SIGINT');
      // The signal comes before the answer.
      await pause(200);
    });
    const child = new Client({ servers: [slow] }).start('log-level', 'error', '--for', '1h');
    expect((await endOf(child)).code).to.equal(130);
    expect(levels).to.deep.equal(['error', 'info']);
  });

  it('levels that are set for a time are set back where a later server fails, at all that can be reached', async () => {
    const levels: string[][] = [];
    const server = (set: RequestListener) => {
      const ofServer: string[] = [];
      levels.push(ofServer);
      return stub(async (request, response) => {
        if (request.method === 'GET') return answer({ level: 'info', modules: { raft: 'warn' } })(request, response);
        const body = JSON.parse((await request.toArray()).join('')) as { level: string; module?: string };
        ofServer.push(`${body.module ?? ''}=${body.level}`);
        set(request, response);
      });
    };
    const sets = answer({ level: 'error', modules: {} });
    const servers = [await server(sets), await server(sets), await server(answer({ error: 'not now' }, 403))];
    const { code, stderr } = await new Client({ servers }).run(['log-level', 'error', '--for', '1h']);
    expect(code).to.equal(4);
    expect(stderr).to.contain('sluice: the server answered 403: not now');
    for (const ofServer of levels.slice(0, 2)) expect(ofServer).to.deep.equal(['=error', '=info', 'raft=warn']);
  });

  it('a transfer whose answer got lost names the same leader again, so that the next one stays', async () => {
    const asked: unknown[] = [];
    const node = await stub(async (request, response) => {
      if (request.method === 'GET') return answer({ leader: 'a' })(request, response);
      asked.push(JSON.parse((await request.toArray()).join('')));
      if (asked.length === 1) request.socket.destroy();
      else answer({ leader: 'b' })(request, response);
    });
    const { code, stdout, stderr } = await new Client({ servers: [node] }).run(['cluster', 'transfer']);
    expect({ code, stdout }, stderr).to.deep.equal({ code: 0, stdout: 'b leads\n' });
    expect(asked).to.deep.equal([{ from: 'a' }, { from: 'a' }]);
  });

  it('an answer that is no JSON is told, and control characters of one never reach the terminal', async () => {
    const page = await stub((_, response) => response.end('<html>'));
    const { code, stderr } = await new Client({ servers: [page] }).run(['get', 'routes']);
    expect(code).to.equal(1);
    expect(stderr).to.contain('is no JSON');
    const evil = await stub(answer([{ id: 'a', name: '\u001b[2Jx\u202e', type: 'cors' }]));
    const shown = await new Client({ servers: [evil] }).output('get', 'middlewares');
    for (const character of ['\u001b', '\u202e']) expect(shown).to.not.contain(character);
  });

  it('a page of HTML from a proxy before the servers is exit code 5, by its title alone', async () => {
    const page = '<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>';
    const proxy = await stub((_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end(page));
    const { code, stderr } = await new Client({ servers: [proxy] }).run(['get', 'routes']);
    expect(stderr).to.equal(
      `sluice: no server can be reached: ${proxy}: 502 502 Bad Gateway (a page of HTML, not an answer of Sluice)\n`,
    );
    expect(code).to.equal(5);
    const next = await stub(answer([{ id: 'a', name: 'a', type: 'cors' }]));
    expect(await new Client({ servers: [proxy, next] }).output('get', 'middlewares', '-o', 'name')).to.equal(
      'middlewares/a\n',
    );
  });

  it('texts of several servers are lines of their own that do not move the cursor', async () => {
    const told = 'storage waits:\u001b[2J\nno space';
    const servers = [
      await stub(answer({ error: told }, 503)),
      await stub((_, response) => response.writeHead(503).end(told)),
    ];
    const { stderr } = await new Client({ servers }).run(['get', 'routes']);
    const lines = servers.map((server) => `${server}: 503 storage waits: [2J no space\n`);
    expect(stderr).to.equal(`sluice: the cluster cannot do it now\n${lines.join('')}`);
  });

  it('a redirection is told and not followed, for the key is not meant for another server', async () => {
    const keys: unknown[] = [];
    const other = await stub((request, response) => {
      keys.push(request.headers.authorization);
      answer([])(request, response);
    });
    const redirecting = await stub((_, response) =>
      response.writeHead(301, { location: `${other}/api/v1/routes` }).end(),
    );
    const { code, stderr } = await new Client({ servers: [redirecting], apiKey: 'k' }).run(['get', 'routes']);
    expect(stderr).to.equal(
      `sluice: ${redirecting} answers 301 and redirects to ${other}/api/v1/routes: name the server itself by --server\n`,
    );
    expect({ code, keys }).to.deep.equal({ code: 1, keys: [] });
  });

  it('an answer of another program, and a stream that breaks off, are one line without a stack', async () => {
    for (const body of [null, {}, 'hello', [null]]) {
      const { code, stderr } = await new Client({ servers: [await stub(answer(body))] }).run(['get', 'routes']);
      expect(stderr, JSON.stringify(body)).to.match(/^sluice: [^\n]+\n$/);
      expect(code).to.equal(1);
    }
    const dying = await stub((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
      setImmediate(() => request.socket.destroy());
    });
    const { code, stderr } = await new Client({ servers: [dying] }).run(['requests', 'tail']);
    expect(stderr).to.match(/^sluice: the stream broke off: [^\n]+\n$/);
    expect(code).to.equal(5);
  });

  it('a filter alone is asked for as it was written', async () => {
    const asked: string[] = [];
    const server = await stub((request, response) => {
      asked.push(new URL(request.url ?? '', 'http://node').searchParams.get('where') ?? '');
      answer({ requests: [] })(request, response);
    });
    const client = new Client({ servers: [server] });
    await client.output('requests', 'top', '--where', 'status > 1');
    await client.output('requests', 'top', '--where', 'status > 1', '--route', 'shop');
    expect(asked).to.deep.equal(['status > 1', '(status > 1) && route == "shop"']);
  });

  it('mismatches that servers of an earlier version tell without a node are listed one and all', async () => {
    const mismatch = (path: string) => ({
      ...{ time: '2026-01-01T00:00:00.000Z', method: 'GET', host: 'shop.test', path, route: 'shop', routeId: 'shop' },
      ...{ destination: 'next', result: 'status', pointer: null, header: null },
      ...{ primary: { status: 200, value: null }, mirror: { status: 500, value: null } },
    });
    const servers = [await stub(answer([mismatch('/a')])), await stub(answer([mismatch('/b')]))];
    const stdout = await new Client({ servers }).output('requests', 'mismatches');
    for (const path of ['/a', '/b'])
      expect(stdout).to.match(new RegExp(`00:00:00 +shop +next +GET shop.test${path} +status +200 +500`));
  });

  it('labels are asked for one by one', async () => {
    const asked: unknown[] = [];
    const server = await stub((request, response) => {
      asked.push(request.url);
      answer([])(request, response);
    });
    await new Client({ servers: [server] }).output('get', 'routes', '--label', 'env=test', '--label', 'team');
    expect(asked).to.deep.equal(['/api/v1/routes?label=env%3Dtest&label=team']);
  });

  it('a refusal without a key says where a key comes from', async () => {
    const closed = await stub(answer({ error: 'an API key is needed' }, 401));
    const { code, stderr } = await new Client({ servers: [closed] }).run(['get', 'routes']);
    expect(stderr).to.equal(
      'sluice: the server answered 401: an API key is needed\nno API key was given: --api-key-file, SLUICE_API_KEY, or sluice login\n',
    );
    expect(code).to.equal(4);
    const keyed = await new Client({ servers: [closed], apiKey: 'expired' }).run(['get', 'routes']);
    expect(keyed.stderr).to.equal('sluice: the server answered 401: an API key is needed\n');
  });

  it('a capture without a name is asked for once where another conflict than its name is in the way', async () => {
    let asked = 0;
    const busy = await stub((request, response) => {
      asked += 1;
      answer({ error: 'rollout "r" is under way' }, 409)(request, response);
    });
    const { code, stderr } = await new Client({ servers: [busy] }).run(['snapshot', 'create']);
    expect(stderr).to.equal(
      'sluice: the server answered 409: rollout "r" is under way\nsluice rollout abort ends it\n',
    );
    expect({ code, asked }).to.deep.equal({ code: 4, asked: 1 });
  });

  it('a rollout that is over long since is told with its own length', async () => {
    const events = [
      { at: '2026-01-01T00:00:00Z', kind: 'started', by: null, guard: null, values: null },
      { at: '2026-01-01T00:06:12Z', kind: 'completed', by: null, guard: null, values: null },
    ];
    const server = await stub((request, response) => {
      if (request.url === '/api/v1/fleet') return answer({ summary: {} })(request, response);
      answer({ id: 'r', state: 'completed', share: 100, steps: [], events })(request, response);
    });
    const stdout = await new Client({ servers: [server] }).output('rollout', 'watch', 'r');
    expect(stdout).to.contain('done      live everywhere in 6m12s · undo: sluice rollback\n');
  });

  it('a rollout may ask for no requests at all', async () => {
    const bodies: unknown[] = [];
    const server = await stub(async (request, response) => {
      if (request.method === 'GET') return answer([{ id: 's', name: 'v7' }])(request, response);
      bodies.push(JSON.parse((await request.toArray()).join('')));
      answer({ id: 'r', state: 'running', events: [] })(request, response);
    });
    const client = new Client({ servers: [server] });
    await client.output('rollout', 'start', 'v7', '--steps', '10,100', '--min-requests', '0');
    expect(bodies).to.have.lengthOf(1);
    expect(bodies[0]).to.include({ minRequests: 0 });
  });

  it('an interruption of a change that is sent says that the server may have carried it out', async () => {
    const asked = Promise.withResolvers<void>();
    const slow = await stub((request, response) => {
      if (request.method === 'GET') return answer([{ id: 'r', state: 'running', events: [] }])(request, response);
      request.resume();
      asked.resolve();
    });
    const child = new Client({ servers: [slow] }).start('rollout', 'pause');
    const ended = endOf(child);
    await asked.promise;
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(stderr).to.equal('\nsluice: interrupted: the server may have carried it out\n');
    expect(code).to.equal(130);
  });

  it('time that an answer takes is bounded', async () => {
    const silent = await stub((request) => request.resume());
    const { code, stderr } = await new Client({ servers: [silent] }).run(['get', 'routes', '--timeout', '300ms']);
    expect(code).to.equal(5);
    expect(stderr).to.contain('no answer within 0.3 s');
  });

  it('wrong usage is exit code 2: unknown flags, forms and kinds, and a key among the arguments', async () => {
    const client = new Client({ servers: [`http://127.0.0.1:${await freePort()}`] });
    for (const args of [
      ['get'],
      ['get', 'rootes'],
      ['get', 'routes', '--api-key', 'secret'],
      ['get', 'routes', '-o', 'xml'],
      ['get', 'routes', '--timeout', 'soon'],
      // Longer than a timer waits: it would fire at once.
      ['get', 'routes', '--timeout', '800h'],
      ['log-level', 'debug', '--for', '800h'],
      ['rollout', 'start', 'v7', '--min-requests', 'many'],
      ['rollout', 'start', 'v7', '--shadow', '1m', '--shadow-sample', '0'],
      ['requests', 'tail', '--limit', '1.5'],
      ['get', 'routes', '--server', 'http://ops:hunter2@127.0.0.1:1'],
      ['apply'],
      ['apply', '-f', 'x.yaml', '--rollout', 'all'],
      ['apply', '-f', 'x.yaml', '--snapshot-name', 'v7'],
      ['apply', '-f', 'x.yaml', '--comment', 'why'],
      ['apply', '-f', 'x.yaml', '--activate', '--wait-for', '1m'],
      ['apply', '-f', 'x.yaml', '--confirm', '1m', '--rollout', '1,100'],
      ['diff'],
      ['set', 'routes', 'a=b'],
      ['rollout', 'begin'],
      ['completion', 'csh'],
    ])
      expect((await client.run(args)).code, args.join(' ')).to.equal(2);
  });

  it('a read loads neither YAML, cryptography nor a second HTTP client', async () => {
    const client = new Client({
      servers: [await stub(answer([{ id: 'shop', name: 'shop', directResponse: { status: 200 } }]))],
      env: { NODE_OPTIONS: '--require ./loaded.cjs' },
    });
    client.write('loaded.cjs', tellsLoaded);
    expect(await client.output('get', 'routes')).to.contain('shop');
    const loaded = JSON.parse(readFileSync(join(client.folder, 'loaded.json'), 'utf8')) as string[];
    const chunks = JSON.parse(readFileSync(chunksFile, 'utf8')) as Readonly<Record<string, readonly string[]>>;
    const holders = Object.keys(chunks).filter((chunk) => chunks[chunk]?.some((each) => each.includes('/yaml/dist/')));
    expect(loaded).to.include.members(['src/main.js', 'NativeModule http']);
    const unwanted = [...holders, 'NativeModule crypto', 'NativeModule internal/deps/undici/undici'];
    expect(loaded.filter((each) => unwanted.includes(each))).to.deep.equal([]);
    expect(holders).to.not.deep.equal([]);
  });

  it('an input that is hostile is refused with its place, within bounds of memory', async () => {
    const client = new Client({
      servers: [`http://127.0.0.1:${await freePort()}`],
      env: { NODE_OPTIONS: '--require ./memory.cjs' },
    });
    client.write(
      'memory.cjs',
      "process.on('exit', () => require('node:fs').writeFileSync('memory', String(process.resourceUsage().maxRSS)));\n",
    );
    const laughs = Array.from(
      { length: 9 },
      (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(', ')}]`,
    );
    const inputs: readonly (readonly [text: string, told: RegExp])[] = [
      ['routes:\n\t- name: a\n', /^stdin:2:1 +a tab must not indent/m],
      ['routes:\n- name: a\n  name: b\n', /^stdin:3:3 +the key "name" is given twice/m],
      ['{"routes":[{"name":"a","name":"b"}]}', /^stdin:1:24 +the key "name" is given twice/m],
      [`routes:\n- name: ${'x'.repeat(1_000_000)}\n`, /^stdin:2:1 +the line has more than 262144 characters/m],
      [
        `a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${laughs.join('\n')}\n`,
        /^stdin:\d+:\d+ +aliases stand for more than 100000 values/m,
      ],
      ['routes:\n- name: a\nroutes:\n- name: b\n', /given twice/],
      ['routs: []\n', /^stdin:1:1 +\/routs routs is not a kind \(did you mean "routes"\?\)/m],
      [
        'routes:\n- { name: a, directResponse: { status: 200 } }\n- { name: a, directResponse: { status: 200 } }\n',
        /^stdin:3:3 +routes\/a +is there already at stdin:2:3/m,
      ],
    ];
    for (const [text, told] of inputs) {
      const { code, stderr } = await client.run(['apply', '-f', '-'], text);
      expect(stderr).to.match(/^refused: \d+ faults?, nothing was staged\n/);
      expect(stderr).to.match(told);
      expect(code).to.equal(1);
      expect(Number(readFileSync(join(client.folder, 'memory'), 'utf8')), 'KiB').to.be.within(10_000, 300_000);
    }
  });
});
