import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const canary = 'CANARY-7f3a91';
const encryption = `  encryption: { key: "${Buffer.alloc(32, 9).toString('base64')}" }\n`;

/** Files below `folder` whose bytes contain the canary. */
const leaks = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(canary));

async function useSecret(sluice: SluiceProcess): Promise<string[]> {
  const api = apiClient(sluice.url);
  await api.create('listeners', { name: 'web', address: '127.0.0.1', port: await freePort() });
  await api.create('secrets', { id: 's', name: 's', value: canary });
  await api.create('routes', { id: 'r', name: 'r', directResponse: { status: 200, body: 'key={{secret:value:s}}' } });
  await api.activateAs('v1');
  const answers = [
    await api.get('/secrets'),
    await api.put('/secrets/s', { name: 's', value: `${canary}-2` }),
    await api.post('/secrets', { name: 's', value: canary }),
    await api.post('/secrets', { name: 't', value: canary, id: 17 }),
    await api.post('/secrets', { value: canary }),
    await api.post('/routes', { name: 'broken', directResponse: { status: canary } }),
    await api.get('/debug/config'),
  ];
  return answers.map(({ body }) => JSON.stringify(body));
}

describe('a canary secret', () => {
  it('is in no file of an encrypted store, in no log line, error body or debug dump', async () => {
    const sluice = await startSluice({ controlPlane: encryption, logLevel: 'debug' });
    const bodies = await useSecret(sluice);
    for (const body of bodies) expect(body).not.to.contain(canary);
    await sluice.stop();
    expect(leaks(sluice.storePath)).to.deep.equal([]);
    expect(sluice.output.filter((line) => line.includes(canary))).to.deep.equal([]);
  });

  it('appears nowhere as the address of a listener that cannot open or the path of a log that cannot be written', async () => {
    // Of no machine (RFC 5737).
    const address = '203.0.113.77';
    const sluice = await startSluice({ controlPlane: encryption, logLevel: 'debug' });
    const api = apiClient(sluice.url);
    await api.create('secrets', { id: 'address', name: 'address', value: address });
    await api.create('secrets', {
      id: 'path',
      name: 'path',
      value: join(sluice.storePath, 'logs', 'no such directory', canary),
    });
    await api.create('listeners', { name: 'web', address: '{{secret:value:address}}', port: await freePort() });
    const accessLog = { path: '{{secret:value:path}}' };
    await api.create('middlewares', { name: 'log', type: 'accessLog', accessLog });
    const captured = await api.create('snapshots', { name: 'v1' });
    const activated = await api.post(`/snapshots/${captured}/activate`);
    expect(activated.headers.get('warning')).to.contain('does not listen on ***');
    const { body: fleet } = await api.get('/fleet');
    expect(JSON.stringify(fleet)).to.contain('waiting');
    await sluice.stop();
    const said = [...activated.headers.values(), JSON.stringify(fleet), ...sluice.output];
    expect(said.filter((text) => text.includes(address) || text.includes(canary))).to.deep.equal([]);
    expect(sluice.output.filter((line) => line.includes('a listener cannot open'))).not.to.deep.equal([]);
    expect(sluice.output.filter((line) => line.includes('an access log cannot be opened'))).not.to.deep.equal([]);
  });

  it('is found by the same search in a store that is not encrypted', async () => {
    const sluice = await startSluice();
    await useSecret(sluice);
    await sluice.stop();
    const found = leaks(sluice.storePath);
    expect(found).not.to.deep.equal([]);
    // Files of LevelDB have modes of their own; their folders admit the owner alone.
    const closed = ['raft', 'state/1'].map((folder) => join(sluice.storePath, folder));
    for (const file of found)
      expect(
        closed.some((folder) => file.startsWith(`${folder}/`)),
        file,
      ).to.equal(true);
    for (const folder of closed) expect(statSync(folder).mode & 0o077, folder).to.equal(0);
  });
});
