// A proxy apart from its control plane, as real processes (fleet.md §2, contract.md §1.4 and §4.2). Each outage of the
// table in docs/operations.md is a row here.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';
import { newFolder, runSluice, type SluiceProcess, spawnNode, startSluice } from '../support/sluice-process.ts';

const anywhere = 'http://127.0.0.1:1';

describe('a proxy in a process of its own', () => {
  let node: SluiceProcess;
  let api: ApiClient;
  let port: number;
  let proxy: ProxyProcess;

  before(async () => {
    // The node has a proxy as well: it serves the same listener on another address.
    node = await startSluice({ more: 'proxy: { workers: 1, bindAddress: 127.0.0.2 }' });
    api = apiClient(node.url);
    port = await freePort();
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await api.create('secrets', { id: 's', name: 's', value: 'S3CRET-VALUE' });
    await api.create('routes', {
      id: 'secret',
      name: 'secret',
      match: { path: '/secret' },
      directResponse: { status: 200, body: 'it is {{secret:value:s}}' },
    });
    await api.create('routes', {
      id: 'r',
      name: 'r',
      match: { path: '/' },
      directResponse: { status: 200, body: '1' },
    });
    await api.activateAs('v1');
    proxy = launchProxy({ controlPlanes: [node.url] });
    await proxy.ready();
  });

  after(async () => {
    await proxy.stop('SIGKILL');
    await node.stop('SIGKILL');
  });

  const serves = async (body: string): Promise<void> => {
    await eventually(async () => {
      const { status, text } = await call(`http://127.0.0.1:${port}`, 'GET', '/');
      expect([status, text]).to.deep.equal([200, body]);
    });
  };

  const activate = async (body: string): Promise<void> => {
    await api.put('/routes/r', { name: 'r', match: { path: '/' }, directResponse: { status: 200, body } });
    await api.activateAs(`v-${body}`);
  };

  it('serves what is active, and each later activation', async () => {
    await serves('1');
    await activate('2');
    await serves('2');
  });

  it('shows health, metrics and configuration on its admin port, without secrets', async () => {
    // It is served a moment before every worker has said so.
    const json = await eventually(async () => {
      const page = await proxy.admin('/debug/config');
      expect(page.status).to.equal(200);
      expect(page.json).to.have.nested.property('snapshot.name', 'v-2');
      return page.json;
    });
    expect(json).to.have.nested.property('routes[0].directResponse.body', '2');
    expect(json).to.have.nested.property('routes[1].directResponse.body', '***');
    expect((await call(`http://127.0.0.1:${port}`, 'GET', '/secret')).text).to.equal('it is S3CRET-VALUE');
    expect((await proxy.admin('/healthz')).json).to.deep.equal({ status: 'ok' });
    const metrics = (await proxy.admin('/metrics')).text;
    expect(metrics).to.contain('sluice_stream_connected 1').and.contain('process_resident_memory_bytes');
    expect(metrics).to.contain('sluice_event_loop_lag_seconds');
    const where = encodeURIComponent('path == "/secret" && route == "secret"');
    const { node: by, requests } = (await proxy.admin(`/requests?limit=5&where=${where}`)).json as {
      node: string;
      requests: object[];
    };
    expect(by).to.match(/^.+-[0-9a-f]{6}$/);
    expect(requests[0]).to.include({ path: '/secret', status: 200, method: 'GET' });
    expect((await proxy.admin('/requests?where=nonsense')).status).to.equal(400);
    expect((await proxy.admin('/nowhere')).status).to.equal(404);
    const { address } = JSON.parse(proxy.output.find((line) => line.includes('"the proxy runs"')) ?? '{}');
    const foreign = { headers: { host: 'evil.test' } };
    expect((await call(`http://${address}`, 'GET', '/debug/config', foreign)).status).to.equal(403);
    expect((await call(`http://${address}`, 'POST', '/debug/config')).status).to.equal(405);
    expect(proxy.output.join('\n') + metrics).not.to.contain('S3CRET-VALUE');
  });

  it('is known to its control plane', async () => {
    const { body } = await api.get<{ proxies: { embedded: boolean; state: string; installed: object }[] }>('/fleet');
    const [embedded, own] = body.proxies.toSorted((a, b) => Number(b.embedded) - Number(a.embedded));
    expect([embedded?.state, own?.state]).to.deep.equal(['current', 'current']);
    expect(own?.installed).to.deep.equal(embedded?.installed);
  });

  it('goes on without its control plane, starts again from its config cache, and reports it', async () => {
    const { pathname } = new URL(node.url);
    expect(pathname).to.equal('/');
    const apiPort = Number(new URL(node.url).port);
    await node.stop('SIGKILL');
    await proxy.ready(({ controlPlane }) => expect(controlPlane).to.equal('disconnected'));
    await serves('2');
    expect(await proxy.stop()).to.equal(0);
    proxy = launchProxy({ controlPlanes: [`http://127.0.0.1:${apiPort}`], folder: proxy.folder });
    const { configuration } = await proxy.ready();
    expect(configuration).to.deep.include({ from: 'last good copy' });
    expect(configuration.ageSeconds).to.be.at.least(0);
    await eventually(() => expect(proxy.output.join('\n')).to.contain('begins with the last good copy'));
    await serves('2');
    node = await startSluice({
      folder: join(node.storePath, '..'),
      port: apiPort,
      more: 'proxy: { workers: 1, bindAddress: 127.0.0.2 }',
    });
    api = apiClient(node.url);
    await proxy.ready(({ controlPlane }) => expect(controlPlane).to.equal('connected'));
    await activate('3');
    await serves('3');
    await proxy.ready(({ configuration: { from } }) => expect(from).to.equal('control plane'));
  });

  it('does not serve a copy that is damaged, and keeps it for inspection', async () => {
    const copy = join(proxy.storePath, 'last-good');
    await eventually(() => expect(readFileSync(copy, 'utf8')).to.contain('v-3'));
    await proxy.stop();
    const bytes = readFileSync(copy);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(copy, bytes);
    const alone = launchProxy({ controlPlanes: [anywhere], folder: proxy.folder });
    await eventually(() => expect(alone.output.join('\n')).to.contain('its bytes have changed'));
    await eventually(() => expect(alone.output.join('\n')).to.contain('the proxy runs'));
    expect((await alone.admin('/readyz')).status).to.equal(503);
    expect(await alone.stop()).to.equal(0);
    expect(existsSync(copy)).to.equal(false);
    expect(readFileSync(`${copy}.damaged`).equals(bytes)).to.equal(true);
    proxy = launchProxy({ controlPlanes: [anywhere, node.url], folder: proxy.folder });
    await proxy.ready();
    await serves('3');
  });

  it('warns once where its store path cannot be written, and serves', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'data-proxy'), 'no directory');
    const without = launchProxy({ folder, controlPlanes: [node.url], proxy: '  bindAddress: 127.0.0.3' });
    await without.ready();
    // It waits for a copy that is being written.
    expect(await without.stop()).to.equal(0);
    const warnings = without.output.filter((line) => /"level":"(?:warn|error)"/.test(line));
    expect(warnings, warnings.join('\n')).to.have.length(1);
    expect(warnings[0]).to.include(without.storePath).and.to.include('no last good copy').and.to.include('EEXIST');
  });

  it('takes lower indexes of another cluster over its copy', async () => {
    const other = await startSluice({ more: 'proxy: { workers: 1, bindAddress: 127.0.0.2 }' });
    try {
      const otherApi = apiClient(other.url);
      await otherApi.create('listeners', { name: 'web', address: '127.0.0.1', port });
      await otherApi.create('routes', { name: 'r', directResponse: { status: 200, body: 'other' } });
      await otherApi.activateAs('other');
      await proxy.stop();
      proxy = launchProxy({ controlPlanes: [other.url], folder: proxy.folder });
      await serves('other');
      await proxy.stop();
    } finally {
      await other.stop('SIGKILL');
    }
    proxy = launchProxy({ controlPlanes: [node.url], folder: proxy.folder });
    await serves('3');
  });

  it('finishes requests in flight on SIGTERM and exits with 0; a second signal exits with 130 at once', async () => {
    const upstream = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const address = upstream.address();
    const upstreamPort = typeof address === 'object' && address !== null ? address.port : 0;
    await api.create('destinations', { id: 'slow', name: 'slow', host: '127.0.0.1', port: upstreamPort });
    await api.create('routes', {
      name: 'slow',
      match: { path: '/slow' },
      forward: { destinations: [{ destinationId: 'slow' }] },
    });
    const { configuration } = await proxy.ready();
    await api.activateAs('slow');
    await proxy.ready((page) => expect(page.configuration.index).to.be.greaterThan(configuration.index ?? 0));
    try {
      const arrived = once(upstream, 'connection');
      const answer = call(`http://127.0.0.1:${port}`, 'GET', '/slow');
      const [socket] = await arrived;
      const end = proxy.stop();
      await eventually(() => expect(proxy.output.join('\n')).to.contain('requests in flight may finish'));
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone');
      expect((await answer).text).to.equal('done');
      expect(await end).to.equal(0);

      proxy = launchProxy({ controlPlanes: [node.url], folder: proxy.folder });
      await proxy.ready();
      const again = once(upstream, 'connection');
      const lost = call(`http://127.0.0.1:${port}`, 'GET', '/slow').catch((error: Error) => error.message);
      await again;
      proxy.child.kill('SIGTERM');
      await eventually(() => expect(proxy.output.join('\n')).to.contain('requests in flight may finish'));
      expect(await proxy.stop('SIGINT')).to.equal(130);
      await lost;
    } finally {
      upstream.close();
    }
  });
});

describe('a proxy that cannot start', () => {
  it('names the wrong key and exits with 1', async () => {
    const file = join(newFolder(), 'proxy.yaml');
    writeFileSync(file, 'mode: proxy\n');
    const { code, stderr } = await runSluice(['--config', file]);
    expect([code, stderr]).to.deep.equal([1, 'sluice: proxy.controlPlaneUrl is required, or controlPlaneUrls\n']);
  });

  it('names the admin port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const folder = newFolder();
    const file = join(folder, 'proxy.yaml');
    writeFileSync(
      file,
      `mode: proxy\nproxy: { controlPlaneUrl: "${anywhere}", storePath: ${folder}/p, admin: { address: "127.0.0.1:${port}" } }\n`,
    );
    const { code, stderr } = await runSluice(['--config', file]);
    taken.close();
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^sluice: the admin port cannot listen at proxy\.admin\.address 127\.0\.0\.1:\d+: [^\n]*\n$/,
    );
  });
});

describe('modules of a proxy', () => {
  it('leave out the API, the log and the store, in every thread, and unused modules of Node', async () => {
    const dist = new URL('../../dist/', import.meta.url);
    const chunks = JSON.parse(readFileSync(new URL('chunks.json', dist), 'utf8')) as Record<string, string[]>;
    const folder = newFolder();
    const hooks = join(folder, 'hooks.mjs');
    const settings = join(folder, 'proxy.yaml');
    const reports = join(folder, 'loaded');
    writeFileSync(
      hooks,
      `import { appendFileSync } from 'node:fs';
       import { registerHooks } from 'node:module';
       import { isMainThread } from 'node:worker_threads';
       const tell = (what) => appendFileSync(${JSON.stringify(reports)}, (isMainThread ? 'main ' : 'worker ') + what + '\\n');
       registerHooks({ load(url, context, next) { tell(url); return next(url, context); } });
       setInterval(() => [...process.moduleLoadList, 'round'].forEach(tell), 100).unref();`,
    );
    writeFileSync(
      settings,
      `mode: proxy\nproxy: { controlPlaneUrl: "http://127.0.0.1:1", storePath: ${folder}/p, workers: 1, admin: { address: none } }\n` +
        'log: { format: json }\n',
    );
    const entry = new URL('src/main.js', dist);
    const child = spawnNode(['--import', hooks, fileURLToPath(entry), '--config', settings]);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk));
    await eventually(() => expect(output).to.contain('"the proxy runs"'));
    const lines = (): string[] => readFileSync(reports, 'utf8').split('\n');
    const rounds = (): number[] =>
      ['main', 'worker'].map((thread) => lines().filter((line) => line === `${thread} round`).length);
    const [main = 0, worker = 0] = rounds();
    // One may be half told already.
    await eventually(() =>
      expect(rounds().map((count, at) => count - ([main, worker][at] ?? 0))).to.satisfy((more: number[]) =>
        more.every((count) => count > 1),
      ),
    );
    const loaded = lines();
    child.kill('SIGKILL');
    const modules = (thread: string): string[] =>
      loaded
        .filter((line) => line.startsWith(`${thread} ${dist.href}`))
        .flatMap((line) => chunks[line.slice(`${thread} ${dist.href}`.length)] ?? [`of no chunk: ${line}`]);
    expect(modules('main')).to.include('src/proxy-mode.js');
    expect(modules('worker')).to.include('src/proxy/worker/thread.js');
    const foreign =
      /@nestjs|fastify|class-(validator|transformer)|classic-level|^raft|^src\/(cluster|resources|state\/(?!store\.))|of no chunk/;
    expect([...modules('main'), ...modules('worker')].filter((name) => foreign.test(name))).to.deep.equal([]);
    expect(loaded.filter((line) => line.includes('/node_modules/'))).to.deep.equal([]);
    const idle = /NativeModule (http2|internal\/deps\/undici\/undici)$/;
    expect(loaded.filter((line) => idle.test(line))).to.deep.equal([]);
  });
});
