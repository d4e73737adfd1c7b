import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { proxyId } from '../../../src/control-plane-client/proxy-identity.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

describe('the id of a proxy', () => {
  const directories = new TemporaryDirectories();
  let storePath: string;
  let file: string;

  beforeEach(async () => {
    storePath = join(await directories.make(), 'proxy');
    file = join(storePath, 'id');
  });
  afterEach(() => directories.removeAll());

  it('is made once, and kept whole or not at all', async () => {
    const { id, notKept } = await proxyId(undefined, storePath);
    expect(notKept).to.equal(undefined);
    expect(readFileSync(file, 'utf8')).to.equal(`${id}\n`);
    expect(await proxyId(undefined, storePath)).to.deep.equal({ id });
  });

  it('is made anew where a power loss left its file empty', async () => {
    mkdirSync(storePath);
    writeFileSync(file, '');
    const { id } = await proxyId(undefined, storePath);
    expect(await proxyId(undefined, storePath)).to.deep.equal({ id });
  });

  it('stays on the disk where the system does not let it be read: the process has another one', async () => {
    mkdirSync(storePath);
    // A link to itself cannot be opened, as no file can without a free descriptor.
    symlinkSync('id', file);
    const { id, notKept } = await proxyId(undefined, storePath);
    expect(notKept).to.contain('ELOOP');
    expect(id).to.not.equal('');
    expect(readlinkSync(file)).to.equal('id');
  });
});
