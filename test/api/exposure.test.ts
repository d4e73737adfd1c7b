import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { logCapture } from '../support/log-capture.ts';
import { body, editableKinds } from '../support/resources.ts';

// security.md S21, S22 and S24, as far as the API can hold them.
describe('exposure', () => {
  let api: ApiServer;

  afterEach(() => api.stop());

  const verbs: [method: string, path: string, sent?: unknown][] = [
    ['GET', '/routes'],
    ['HEAD', '/routes'],
    ['POST', '/routes', body('routes', 'r')],
    ['PUT', '/routes/x', body('routes', 'r')],
    ['DELETE', '/routes/x'],
    ['OPTIONS', '/routes'],
    ['PATCH', '/routes/x'],
    ['GET', '/docs/'],
    ['GET', '//sync/snapshot'],
    ['POST', '//sync/raft'],
  ];
  const hostile: [what: string, headers: Record<string, string>][] = [
    ['a rebound host name', { host: 'evil.test' }],
    ['the Origin of another site', { origin: 'http://evil.test' }],
    ['the Origin of another port', { origin: 'http://127.0.0.1:1' }],
    ['an opaque Origin', { origin: 'null' }],
    ['Sec-Fetch-Mode no-cors', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site' }],
  ];
  for (const [what, headers] of hostile) {
    it(`S22: refuses ${what} on every verb`, async () => {
      api = await ApiServer.start();
      for (const [method, path, sent] of verbs) {
        const { status, text } = await api.call(method, path, { headers, body: sent });
        expect(status, `${method} ${path}`).to.equal(403);
        if (method !== 'HEAD') expect(JSON.parse(text)).to.have.all.keys('error');
      }
      expect((await api.call('GET', '/routes')).text).to.equal('[]');
    });
  }

  it('S22: gives no permission to pages of other origins', async () => {
    api = await ApiServer.start();
    const { headers } = await api.call('GET', '/routes', { headers: { origin: api.base } });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).to.deep.equal([]);
  });

  it('S22: serves host names that are listed', async () => {
    api = await ApiServer.start({ options: { allowedHosts: ['sluice.test'] } });
    expect(await api.call('GET', '/routes', { headers: { host: 'Sluice.Test:8080' } })).to.include({ status: 200 });
  });

  it('S21: decides by the connection and the key, with any forwarding headers', async () => {
    api = await ApiServer.start({ options: { apiKeys: [{ name: 'k', key: 'k', role: 'admin' }] } });
    const headers = {
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      forwarded: 'for=127.0.0.1',
      'x-api-key': 'k',
    };
    expect(await api.call('GET', '/routes', { headers })).to.include({ status: 401 });
    expect(await api.call('GET', '/routes?key=k&access_token=k', {})).to.include({ status: 401 });
  });

  it('S21: leaves a line in the log for every write and every refused caller, with the name of the key alone', async () => {
    const { logger, lines } = logCapture();
    const apiKeys = [{ name: 'ops', key: 'key-of-ops', role: 'admin' as const }];
    api = await ApiServer.start({ logger, options: { apiKeys } });
    await api.call('POST', '/groups?fieldValidation=strict', { key: 'key-of-ops', body: body('groups', 'g') });
    await api.call('GET', '/secrets', { key: 'key-of-nobody' });
    await eventually(() => {
      const seen = lines.map((line) => JSON.parse(line));
      expect(seen.map(({ method, path, status, key }) => ({ method, path, status, key }))).to.deep.equal([
        { method: 'POST', path: '/api/v1/groups', status: 201, key: 'ops' },
        { method: 'GET', path: '/api/v1/secrets', status: 401, key: undefined },
      ]);
    });
  });

  it('S24: shows a secret nowhere but to an admin who asks for it', async () => {
    const { logger, lines } = logCapture();
    const apiKeys = [
      { name: 'a', key: 'key-admin', role: 'admin' as const },
      { name: 'v', key: 'key-viewer', role: 'viewer' as const },
    ];
    api = await ApiServer.start({ logger, options: { apiKeys }, encryptionKey: Buffer.alloc(32, 7) });
    const admin = { key: 'key-admin' };
    const marker = 'CANARY-8f3a';
    const leaks: string[] = [];
    const watch = async (...[method, path, options]: Parameters<ApiServer['call']>): Promise<void> => {
      const { text, headers } = await api.call(method, path, options);
      if (`${text}${JSON.stringify(headers)}`.includes(marker)) leaks.push(`${method} ${path}`);
    };
    const secret = body('secrets', 's', { id: 's', value: marker });
    await watch('POST', '/secrets', { ...admin, body: secret });
    await watch('POST', '/secrets', { ...admin, body: secret });
    await watch('POST', '/secrets', { ...admin, body: `{"value":"${marker}" ${marker}` });
    await watch('POST', '/secrets', { ...admin, body: { ...secret, name: 7, id: 'x' } });
    await watch('PUT', '/secrets/s', { ...admin, body: secret });
    await watch('PUT', '/secrets/s', { ...admin, body: secret, headers: { 'if-match': '"0"' } });
    await api.call('POST', '/listeners', {
      ...admin,
      body: body('listeners', 'l', { tls: { cert: '{{secret:value:s}}', key: '{{secret:value:s}}' } }),
    });
    await api.call('POST', '/routes', {
      ...admin,
      body: body('routes', 'r', { directResponse: { status: 200, body: 'x {{secret:value:s}}' } }),
    });
    const { headers } = await api.call('POST', '/snapshots', { ...admin, body: { name: 's' } });
    const path = headers.location?.slice('/api/v1'.length) ?? '';
    await watch('POST', `${path}/activate`, admin);
    for (const key of ['key-admin', 'key-viewer']) {
      for (const kind of editableKinds) await watch('GET', `/${kind}`, { key });
      await watch('GET', '/snapshots', { key });
      await watch('GET', '/debug/config', { key });
      await watch('GET', '//debug/config', { key });
      await watch('GET', '/docs/doc.json', { key });
    }
    await watch('GET', path, { key: 'key-viewer' });
    await watch('GET', '/secrets/s', { key: 'key-viewer' });
    await watch('GET', '/sync/snapshot', { key: 'key-viewer' });
    await watch('GET', '/sync/snapshot');
    expect(leaks).to.deep.equal([]);
    expect(lines.filter((line) => line.includes(marker) || line.includes('key-admin'))).to.deep.equal([]);
    expect((await api.call('GET', '/secrets/s', admin)).text).to.contain(marker);
    await watch('GET', path, admin);
    expect(leaks).to.deep.equal([]);
    expect((await api.call('GET', `${path}?secrets=resolved`, admin)).text).to.contain(marker);
    expect(await filesWith(api.directory, marker)).to.deep.equal([]);
  });
});

async function filesWith(directory: string, marker: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(marker)) found.push(path);
  }
  return found;
}
