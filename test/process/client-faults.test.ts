import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { endOf } from '../support/sluice-process.ts';

const servers: Server[] = [];

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

async function listening(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const stub = async (onRequest: RequestListener): Promise<string> =>
  `http://${await listening(createServer(onRequest))}`;

const answer =
  (body: unknown, status = 200, headers = {}): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

describe('faults that the client of the command line meets', () => {
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });

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
    const slow = await stub(async (request, response) => {
      if (request.method === 'GET') return answer({ level: 'info', modules: {} })(request, response);
      const body = JSON.parse((await request.toArray()).join('')) as { level: string };
      levels.push(body.level);
      if (levels.length === 1) {
        child.kill('SIGINT');
        // The signal comes before the answer.
        await pause(200);
      }
      answer({ ...body, modules: {} })(request, response);
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
      ['apply'],
      ['apply', '-f', 'x.yaml', '--rollout', 'all'],
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
