import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeDirectory, makePrivateDirectory } from '../../../disk/directory.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

describe('a directory made', () => {
  const directories = new TemporaryDirectories();
  afterEach(() => directories.removeAll());

  const codeOf = async (path: string): Promise<unknown> =>
    await makeDirectory(path).then(
      () => 'made',
      (error: NodeJS.ErrnoException) => error.code,
    );

  it('comes with those above it, and may be there already', async () => {
    const path = join(await directories.make(), 'a/b/c');
    await makeDirectory(path, { mode: 0o700 });
    expect(statSync(path).isDirectory()).to.equal(true);
    expect(statSync(path).mode & 0o777).to.equal(0o700);
    await makeDirectory(path);
  });

  it('is for its owner alone where secrets are kept, also if it was there before', async () => {
    const path = join(await directories.make(), 'a/b');
    await makePrivateDirectory(path);
    expect(statSync(path).mode & 0o777).to.equal(0o700);
    chmodSync(path, 0o755);
    await makePrivateDirectory(path);
    expect(statSync(path).mode & 0o777).to.equal(0o700);
  });

  it('may be the target of a link, and is no file', async () => {
    const root = await directories.make();
    mkdirSync(join(root, 'there'));
    symlinkSync(join(root, 'there'), join(root, 'link'));
    symlinkSync(join(root, 'nowhere'), join(root, 'dangling'));
    writeFileSync(join(root, 'file'), '');
    expect(await codeOf(join(root, 'link'))).to.equal('made');
    expect(await codeOf(join(root, 'link/below'))).to.equal('made');
    expect(await codeOf(join(root, 'file'))).to.equal('EEXIST');
    expect(await codeOf(join(root, 'file/below'))).to.equal('ENOTDIR');
    expect(await codeOf(join(root, 'dangling'))).to.equal('EEXIST');
  });

  it('is refused, not tried for ever, where the system says that the place is missing though it is there', async function () {
    if (process.platform !== 'linux') this.skip();
    expect(await codeOf('/proc/sluice')).to.equal('ENOENT');
    expect(await codeOf('/proc/sluice/below')).to.equal('ENOENT');
  });
});
