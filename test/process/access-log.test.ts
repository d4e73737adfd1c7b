// What logrotate does to a running node: the file is moved away, SIGHUP says so.
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
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
    const path = join(newFolder(), 'access.log');
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
  });
});
