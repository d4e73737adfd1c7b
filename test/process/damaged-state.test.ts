// A state whose files are damaged beside a log that is whole: all that it was made of is there.
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { newFolder, startSluice } from '../support/sluice-process.ts';

const fileOf = (directory: string, pattern: RegExp): string => {
  const name = readdirSync(directory).find((each) => pattern.test(each));
  if (name === undefined) throw new Error(`no file like ${pattern} in ${directory}`);
  return join(directory, name);
};

function flip(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  writeFileSync(path, bytes);
}

const damages: Readonly<Record<string, (state: string) => void>> = {
  'a table was changed': (state) => flip(fileOf(state, /\.ldb$/)),
  'the file of its last writes is empty': (state) => truncateSync(fileOf(state, /^\d+\.log$/), 0),
  'CURRENT is gone': (state) => rmSync(join(state, 'CURRENT')),
  'the witness is empty': (state) => truncateSync(join(state, 'WITNESS'), 0),
  'a long row was changed': (state) => flip(fileOf(join(state, 'long'), /^\d+$/)),
};

describe('a node whose state is damaged and whose log is whole', () => {
  const sound = newFolder();
  let web: number;

  before(async () => {
    web = await freePort();
    let sluice = await startSluice({ folder: sound });
    const api = apiClient(sluice.url);
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port: web });
    await api.create('routes', { name: 'kept', match: { path: '/' }, directResponse: { status: 200, body: 'kept' } });
    const body = 'x'.repeat(1_200_000);
    await api.create('routes', { name: 'long', match: { path: '/long' }, directResponse: { status: 200, body } });
    await api.activateAs('v1');
    await sluice.stop();
    // Rows from before a start lie in a table, later ones in the file of the last writes.
    sluice = await startSluice({ folder: sound });
    await apiClient(sluice.url).create('routes', {
      name: 'last',
      match: { path: '/last' },
      directResponse: { status: 200 },
    });
    await sluice.stop('SIGTERM');
  });

  for (const [what, damage] of Object.entries(damages)) {
    it(`builds it anew, has all that was acknowledged, and says so: ${what}`, async () => {
      const folder = newFolder();
      await cp(join(sound, 'data'), join(folder, 'data'), { recursive: true });
      damage(join(folder, 'data', 'state', '1'));
      const sluice = await startSluice({ folder });
      const names = async () =>
        (await apiClient(sluice.url).get<{ name: string }[]>('/routes')).body.map(({ name }) => name).sort();
      expect(await names()).to.deep.equal(['kept', 'last', 'long']);
      await eventually(async () => expect(await (await fetch(`http://127.0.0.1:${web}/`)).text()).to.equal('kept'));
      expect(sluice.output.join('\n')).to.match(
        /"warn".*the state is built anew from the log and its checkpoint: .*is damaged/,
      );
      await apiClient(sluice.url).create('groups', { name: 'after' });
      await sluice.stop();
      const again = await startSluice({ folder });
      expect(again.output.join('\n')).not.to.contain('built anew');
      await again.stop();
    });
  }
});
