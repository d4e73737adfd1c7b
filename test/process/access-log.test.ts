// Rotation of the access log of a running node, as by logrotate: the file is moved away, then SIGHUP is sent.
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { launchProxy } from '../support/proxy-process.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

describe('access logs of a process', () => {
  let sluice: SluiceProcess;
  before(async () => {
    sluice = await startSluice();
  });
  after(() => sluice.stop());

  it('go on in a new file after SIGHUP, and nothing is missing', async () => {
    const api = apiClient(sluice.url);
    const port = await freePort();
    const path = join(sluice.storePath, 'logs', 'access.log');
    const fields = { path: '${request.path}' };
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    await api.create('middlewares', {
      id: 'log',
      name: 'log',
      type: 'accessLog',
      accessLog: { path, onResponse: { fields } },
    });
    const directResponse = { status: 200, body: 'ok' };
    await api.create('routes', { name: 'all', middlewareIds: ['log'], directResponse });
    await api.activateAs('v1');
    const ask = (target: string) => fetch(`http://127.0.0.1:${port}${target}`).then((response) => response.text());
    const holds = (file: string, text: string) => eventually(() => expect(readFileSync(file, 'utf8')).to.equal(text));
    await ask('/1');
    await holds(path, 'path=/1\n');
    renameSync(path, `${path}.1`);
    sluice.child.kill('SIGHUP');
    await eventually(() => readFileSync(path));
    await ask('/2');
    await holds(path, 'path=/2\n');
    await ask('/3');
    expect(await sluice.stop('SIGTERM')).to.equal(0);
    expect(readFileSync(path, 'utf8')).to.equal('path=/2\npath=/3\n');
    expect(readFileSync(`${path}.1`, 'utf8')).to.equal('path=/1\n');
    expect(statSync(join(sluice.storePath, 'logs')).mode & 0o777).to.equal(0o700);
  });
});

describe('the path of an access log, which an editor of the API names', () => {
  const folder = newFolder();
  const logs = join(folder, 'var-log');
  const key = { authorization: 'Bearer editor-key-0123456789' };
  let sluice: SluiceProcess;

  before(async () => {
    mkdirSync(logs);
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(logs, 'linked'));
    writeFileSync(join(folder, 'keys'), 'kept\n');
    symlinkSync(join(folder, 'keys'), join(logs, 'keys'));
    await start(`[${JSON.stringify(folder)}, ${JSON.stringify(logs)}]`);
  });
  after(() => sluice.stop());

  const start = async (directories: string) => {
    sluice = await startSluice({
      folder,
      controlPlane:
        '  auth: { apiKeys: [{ name: e, role: editor, key: editor-key-0123456789 }, { name: a, role: admin, key: admin-key-0123456789a }] }',
      more: `proxy: { workers: 1, accessLogDirectories: ${directories} }`,
    });
  };
  const log = (path: string) => ({
    ...{ id: 'log', name: 'log', type: 'accessLog' },
    accessLog: { path, onRequest: { fields: { evil: 'ssh-ed25519 AAAA' } } },
  });
  const written = async (path: string) => {
    const api = apiClient(sluice.url, key);
    const one = await api.post<{ error: string }>('/middlewares', log(path));
    const many = await api.post<{ error: string }>('/batch', {
      operations: [{ op: 'upsert', kind: 'middlewares', by: 'id', id: 'log', body: log(path) }],
    });
    await api.delete('/middlewares/log');
    return [one, many] as const;
  };
  const inStore = (...names: string[]) => join(sluice.storePath, ...names);

  const refused: readonly (readonly [string, () => string])[] = [
    ['a file in the home directory', () => '/root/.ssh/authorized_keys'],
    [
      'a file of its own store, though the store is below a directory of the setting',
      () => inStore('state', '1', 'CURRENT'),
    ],
    ['a file beside the logs of its store', () => inStore('logs.txt')],
    ['a relative path', () => 'access.log'],
    ['a path with ..', () => `${logs}/x/../../data/state/1/CURRENT`],
    ['a directory', () => logs],
    ['a path that ends as that of a directory', () => `${logs}/a/`],
    ['a directory of the setting itself', () => `${folder}`],
    [
      'a file below a link that leads into the store',
      () => {
        const link = join(logs, 'store');
        if (!existsSync(link)) symlinkSync(sluice.storePath, link);
        return join(link, 'raft', 'x');
      },
    ],
    ['a link', () => join(logs, 'keys')],
    ['a NUL', () => `${logs}/a\u0000b`],
    ['a device', () => '/dev/sda'],
  ];
  for (const [what, path] of refused) {
    it(`${what}: 400 that names the setting, alone and in a batch`, async () => {
      for (const { status, body } of await written(path())) {
        expect(status, JSON.stringify(body)).to.equal(400);
        expect(body.error).to.contain('/accessLog/path').and.contain('proxy.accessLogDirectories');
      }
    });
  }

  const allowed: readonly (readonly [string, () => string])[] = [
    ['stdout', () => 'stdout'],
    ['/dev/stderr', () => '/dev/stderr'],
    ['a file in a directory of the setting', () => join(logs, 'a.log')],
    ['a file below one that is not there yet', () => join(logs, 'tenants', 'a', 'a.log')],
    ['a file behind a link that stays within', () => join(logs, 'linked', 'a.log')],
    ['a file below the logs of its store', () => inStore('logs', 'a.log')],
  ];
  for (const [what, path] of allowed) {
    it(`${what}: is taken`, async () => {
      const [one, many] = await written(path());
      expect([one.status, many.status]).to.deep.equal([201, 200]);
    });
  }

  it('a path that is a secret is refused by a capture', async () => {
    const api = apiClient(sluice.url, key);
    await api.create('secrets', { id: 'p', name: 'p', value: '/root/.profile' });
    await api.create('middlewares', log('{{secret:value:p}}'));
    const { status, body } = await api.post<{ error: string }>('/snapshots', { name: 'secret' });
    expect(status).to.equal(400);
    expect(body.error).to.equal('/middlewares/log/accessLog/path cannot be used; it holds a secret');
    expect(body.error).not.to.contain('.profile');
    await api.delete('/middlewares/log');
  });

  it('that another setting allowed stays closed at a node and a proxy of their own settings, and traffic goes on', async () => {
    const api = apiClient(sluice.url, { authorization: 'Bearer admin-key-0123456789a' });
    const path = join(logs, 'opened.log');
    const [port, far] = [await freePort(), '127.0.0.7'];
    await api.create('middlewares', log(path));
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await api.create('routes', {
      ...{ id: 'r', name: 'r', middlewareIds: ['log'] },
      directResponse: { status: 200, body: 'served' },
    });
    await api.activateAs('v1');
    const ask = (address: string) =>
      eventually(async () => expect((await call(`http://${address}:${port}`, 'GET', '/')).text).to.equal('served'));
    await ask('127.0.0.1');
    await eventually(() => expect(readFileSync(path, 'utf8')).to.equal('evil="ssh-ed25519 AAAA"\n'));
    expect(await sluice.stop()).to.equal(0);
    await start('[]');
    await ask('127.0.0.1');
    const proxy = launchProxy({
      controlPlanes: [sluice.url],
      proxy: `  bindAddress: ${far}\n  apiKey: admin-key-0123456789a\n  accessLogDirectories: [/var/log/elsewhere]`,
    });
    await proxy.ready();
    await ask(far);
    const again = apiClient(sluice.url, { authorization: 'Bearer admin-key-0123456789a' });
    await eventually(async () => {
      const { body } = await again.get<{ proxies: { problems: { pointer: string; message: string }[] }[] }>('/fleet');
      const told = body.proxies.map(({ problems }) => problems);
      expect(told).to.have.length(2);
      for (const problems of told) {
        expect(problems.map(({ pointer }) => pointer)).to.deep.equal(['/middlewares/log/accessLog/path']);
        expect(problems[0]?.message).to.match(/proxy.accessLogDirectories .*: this access log stays closed/);
      }
    });
    for (const { output } of [sluice, proxy]) {
      await eventually(() => {
        expect(output.some((line) => line.includes('an access log stays closed'))).to.equal(true);
        expect(output.some((line) => line.includes('access log lines are lost'))).to.equal(true);
        expect(output.some((line) => line.startsWith('evil='))).to.equal(false);
      });
    }
    expect(await proxy.stop()).to.equal(0);
    expect(readFileSync(path, 'utf8')).to.equal('evil="ssh-ed25519 AAAA"\n');
    expect(readFileSync(join(folder, 'keys'), 'utf8')).to.equal('kept\n');
  });
});
