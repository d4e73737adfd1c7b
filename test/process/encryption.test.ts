import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { newFolder, startSluice } from '../support/sluice-process.ts';

const encryption = `  encryption: { key: "${Buffer.alloc(32, 7).toString('base64')}" }\n`;
const canary = 'canary-before-encryption';

function filesHolding(folder: string, text: string): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.filter((file) => readFileSync(file).includes(text));
}

describe('encryption that is turned on later', () => {
  it('leaves nothing readable of a secret that was deleted before, in state or log', async () => {
    const folder = newFolder();
    const plain = await startSluice({ folder });
    const api = apiClient(plain.url);
    await api.create('secrets', { id: 'old', name: 'old', value: canary });
    await api.create('routes', { id: 'kept', name: 'kept', directResponse: { status: 200 } });
    expect((await api.delete('/secrets/old')).status).to.equal(204);
    await plain.stop();
    expect(filesHolding(plain.storePath, canary)).to.not.deep.equal([]);
    for (let start = 0; start < 2; start++) {
      const sealed = await startSluice({ folder, controlPlane: encryption });
      expect(filesHolding(sealed.storePath, canary)).to.deep.equal([]);
      const client = apiClient(sealed.url);
      expect((await client.get<{ id: string }[]>('/routes')).body.map(({ id }) => id)).to.include('kept');
      await client.create('secrets', { name: `new-${start}`, value: canary });
      expect(filesHolding(sealed.storePath, canary)).to.deep.equal([]);
      await sealed.stop('SIGKILL');
    }
  });
});
