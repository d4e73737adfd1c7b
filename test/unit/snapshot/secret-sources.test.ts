import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SecretFence } from '../../../src/settings/control-plane-settings.ts';
import { thisMachine } from '../../../src/snapshot/machine.ts';
import { createSecretSources, missingFor, readAs, secretFileBytesMax } from '../../../src/snapshot/secret-sources.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const noBodies = { read: async () => missingFor('no bodies') };

describe('secrets from the environment', () => {
  const env = { TOKEN: 't', TLS_KEY: 'k', TLS: 'x', EMPTY: '' };
  const read = (name: string, fence?: SecretFence) =>
    createSecretSources({ ...thisMachine, env }, fence ?? {}, noBodies).env(name);

  it('are any variable without a fence', () => {
    expect(read('TOKEN')).to.deep.equal(readAs('t'));
  });

  it('are missing when unset, empty, or a property of every object', () => {
    for (const name of ['GONE', 'EMPTY', 'constructor', '__proto__'])
      expect(read(name)).to.include({ kind: 'missing' });
  });

  it('are those that the fence names, and those that start as it says', () => {
    const fence = { env: ['TOKEN', 'TLS_*'] };
    expect(read('TOKEN', fence)).to.include({ kind: 'value' });
    expect(read('TLS_KEY', fence)).to.include({ kind: 'value' });
    expect(read('TLS', fence)).to.deep.equal(
      missingFor('environment variable "TLS" is not allowed by controlPlane.secretSources'),
    );
  });

  it('are none with an empty fence, and all with a star', () => {
    expect(read('TOKEN', { env: [] })).to.include({ kind: 'missing' });
    expect(read('TOKEN', { env: ['*'] })).to.include({ kind: 'value' });
  });
});

describe('secrets from files', () => {
  const directories = new TemporaryDirectories();
  let root: string;

  const read = (path: string, fence?: SecretFence) =>
    createSecretSources(thisMachine, fence ?? {}, noBodies).file(path);
  const fenced = (path: string) => read(path, { files: [join(root, 'allowed')] });

  beforeEach(async () => {
    root = await directories.make();
    for (const name of ['allowed', 'allowed/deep', 'allowed-not', 'other']) await mkdir(join(root, name));
    for (const name of ['allowed/f', 'allowed/deep/f', 'allowed/..f', 'allowed-not/f', 'other/f']) {
      await writeFile(join(root, name), `${name}\n`);
    }
    await symlink(join(root, 'other/f'), join(root, 'allowed/out'));
    await symlink(join(root, 'allowed/f'), join(root, 'other/in'));
    await symlink(join(root, 'allowed'), join(root, 'door'));
  });

  afterEach(() => directories.removeAll());

  it('are their content as it is, trailing newline included', async () => {
    expect(await read(join(root, 'other/f'))).to.deep.equal(readAs('other/f\n'));
  });

  it('are inside the fence by real path, links followed', async () => {
    for (const name of ['allowed/f', 'allowed/deep/f', 'allowed/..f', 'other/in', 'door/f', 'other/../allowed/f']) {
      expect(await fenced(join(root, name)), name).to.include({ kind: 'value' });
    }
    expect(await read(join(root, 'allowed/f'), { files: [join(root, 'door')] })).to.include({ kind: 'value' });
  });

  it('are refused outside of the fence, with one answer for all', async () => {
    for (const name of ['other/f', 'allowed/out', 'allowed-not/f', 'allowed/../other/f', 'gone', 'allowed']) {
      const path = join(root, name);
      expect(await fenced(path), name).to.deep.equal(
        missingFor(`file "${path}" cannot be read or is not allowed by controlPlane.secretSources`),
      );
    }
    expect(await read(join(root, 'allowed/f'), { files: [] })).to.include({ kind: 'missing' });
    expect(await read(join(root, 'allowed/f'), { files: [join(root, 'gone')] })).to.include({ kind: 'missing' });
  });

  it('are missing when there is nothing, a directory, a device, or no text', async () => {
    await writeFile(join(root, 'binary'), Buffer.from([0xff, 0xfe]));
    for (const path of ['gone', 'other', 'binary'].map((name) => join(root, name))) {
      expect(await read(path)).to.deep.equal(missingFor(`file "${path}" cannot be read`));
    }
    expect(await read('/dev/zero')).to.include({ kind: 'missing' });
  });

  it('may be up to 1 MiB', async () => {
    const path = join(root, 'large');
    await writeFile(path, 'x'.repeat(secretFileBytesMax));
    expect(await read(path)).to.include({ kind: 'value' });
    await writeFile(path, 'x'.repeat(secretFileBytesMax + 1));
    expect(await read(path)).to.include({ kind: 'missing' });
  });
});
