import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { storedBodyBytesMax } from '../../../src/model/body-from.ts';
import { FencedBodyFiles } from '../../../src/snapshot/body-files.ts';
import { thisMachine } from '../../../src/snapshot/machine.ts';
import { readAs } from '../../../src/snapshot/secret-sources.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

describe('files of stored bodies', () => {
  const directories = new TemporaryDirectories();
  let root: string;
  let store: string;
  let files: FencedBodyFiles;

  beforeEach(async () => {
    root = await directories.make();
    store = join(root, 'store');
    for (const name of ['store', 'store/bodies', 'store/raft', 'pages', 'other']) await mkdir(join(root, name));
    for (const name of ['store/bodies/f', 'store/raft/f', 'pages/f', 'other/f'])
      await writeFile(join(root, name), name);
    await symlink(join(root, 'other/f'), join(root, 'pages/out'));
    files = new FencedBodyFiles(thisMachine, store, [join(root, 'pages'), root]);
  });

  afterEach(() => directories.removeAll());

  it('are read below their directories, by real path', async () => {
    const fenced = new FencedBodyFiles(thisMachine, store, [join(root, 'pages')]);
    expect(await fenced.read(join(root, 'pages/f'))).to.deep.equal(readAs('pages/f'));
    for (const name of ['pages/out', 'other/f', 'pages', 'pages/none']) {
      expect(await fenced.read(join(root, name)), name).to.include({ kind: 'missing' });
    }
    for (const [name, isRefused] of [
      ['pages/f', false],
      ['pages/none', false],
      ['pages/out', true],
      ['other/f', true],
    ] as const) {
      expect((await fenced.refusal(join(root, name))) !== undefined, name).to.equal(isRefused);
    }
    expect(await fenced.refusal('/etc/passwd')).to.contain('proxy.bodyDirectories');
  });

  it('are never in the store but in its folder bodies', async () => {
    expect(await files.read(join(store, 'raft/f'))).to.include({ kind: 'missing' });
    expect(await files.refusal(join(store, 'raft/f'))).to.be.a('string');
    expect(await files.read(join(store, 'bodies/f'))).to.deep.equal(readAs('store/bodies/f'));
    expect(await new FencedBodyFiles(thisMachine, store, undefined).refusal(join(store, 'bodies/f'))).to.equal(
      undefined,
    );
  });

  it('are UTF-8 of 1 byte to 1 MiB', async () => {
    const file = join(root, 'pages/f');
    await writeFile(file, Buffer.alloc(storedBodyBytesMax, 'x'));
    expect(await files.read(file)).to.include({ kind: 'value' });
    await writeFile(file, Buffer.alloc(storedBodyBytesMax + 1, 'x'));
    expect(await files.read(file)).to.include({ kind: 'missing' });
    for (const text of ['', '\ufeff']) {
      await writeFile(file, text);
      expect(await files.read(file)).to.include({ kind: 'missing' });
    }
    await writeFile(file, Buffer.from([0x61, 0xff]));
    expect(await files.read(file)).to.include({ kind: 'missing' });
  });
});
