// Stored bodies from the API to clients: a file at the capture, the value of a secret, and the rights to name them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const admin = { authorization: 'Bearer admin-key-0123456789' };
const editor = { authorization: 'Bearer editor-key-0123456789' };
const keys =
  '  auth: { apiKeys: [{ name: a, role: admin, key: admin-key-0123456789 }, { name: e, role: editor, key: editor-key-0123456789 }] }';

describe('stored bodies of a node', () => {
  let sluice: SluiceProcess;
  let pages: string;
  let port: number;

  before(async () => {
    pages = join(newFolder(), 'pages');
    mkdirSync(pages);
    sluice = await startSluice({ controlPlane: keys, more: `proxy: { workers: 2, bodyDirectories: ["${pages}"] }` });
    port = await freePort();
    await apiClient(sluice.url, admin).create('listeners', {
      id: 'web',
      name: 'web',
      address: '127.0.0.1',
      port,
      errorPages: [{ statuses: ['404'], bodyFrom: { secret: 'sorry' } }],
    });
  });

  after(() => sluice.stop());

  const textOf = async (path: string) => await (await fetch(`http://127.0.0.1:${port}${path}`)).text();

  it('come from the file as it was captured, and from the value of a secret', async () => {
    const api = apiClient(sluice.url, admin);
    const file = join(pages, 'page.html');
    writeFileSync(file, '<p>first</p>');
    await api.create('secrets', { id: 'sorry', name: 'sorry', value: 'sorry: ${request.path}' });
    await api.create('routes', {
      id: 'page',
      name: 'page',
      match: { path: '/page' },
      directResponse: { status: 200, bodyFrom: { file } },
    });
    const first = await api.activateAs('v1');
    await eventually(async () => {
      expect(await textOf('/page')).to.equal('<p>first</p>');
      expect(await textOf('/none')).to.equal('sorry: /none');
    });
    writeFileSync(file, '<p>second</p>');
    const snapshot = JSON.stringify((await api.get(`/snapshots/${first}`)).body);
    expect(snapshot).to.contain(file);
    expect(snapshot).to.not.contain('first').and.not.contain('sorry: ');
    expect(JSON.stringify((await api.get('/debug/config')).body)).to.not.contain('sorry: ');
    expect(await textOf('/page')).to.equal('<p>first</p>');
    await api.activateAs('v2');
    await eventually(async () => expect(await textOf('/page')).to.equal('<p>second</p>'));
  });

  it('are refused outside of the directories, to editors, and at the capture where there is no file', async () => {
    const api = apiClient(sluice.url, admin);
    const body = (file: string) => ({ name: 'other', directResponse: { status: 200, bodyFrom: { file } } });
    const outside = await api.post('/routes', body('/etc/hostname'));
    expect(outside.status).to.equal(400);
    expect(JSON.stringify(outside.body))
      .to.contain('/directResponse/bodyFrom/file')
      .and.contain('proxy.bodyDirectories');
    const forbidden = await apiClient(sluice.url, editor).post('/routes', body(join(pages, 'page.html')));
    expect(forbidden.status).to.equal(403);
    const operation = { op: 'create', kind: 'routes', body: body('/etc/hostname') };
    expect((await api.post('/batch', { operations: [operation] })).status).to.equal(400);
    await api.create('routes', { id: 'gone', ...body(join(pages, 'gone.html')) });
    const capture = await api.post('/snapshots', { name: 'v3' });
    expect(capture.status).to.equal(400);
    expect(JSON.stringify(capture.body)).to.contain('/routes/gone/directResponse/bodyFrom/file');
  });
});
