import { readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import { damagedTable } from '../../../disk/table-check.ts';
import { rejection } from '../../support/rejection.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

describe('the check of table files', () => {
  const directories = new TemporaryDirectories();
  let directory: string;

  /** Two starts, so that the rows of the first are in a table. */
  beforeEach(async () => {
    directory = join(await directories.make(), 'database');
    for (const half of ['a', 'b']) {
      const database = new ClassicLevel(directory, { compression: false });
      await database.open();
      for (let at = 0; at < 50; at += 1) await database.put(`${half}${at}`, 'x'.repeat(400));
      await database.close();
    }
  });
  afterEach(() => directories.removeAll());

  async function table(): Promise<string> {
    const name = (await readdir(directory)).find((each) => each.endsWith('.ldb'));
    if (name === undefined) throw new Error('there is no table');
    return name;
  }

  it('finds nothing wrong with a sound database, nor with one that does not exist', async () => {
    expect(await damagedTable(directory)).to.equal(undefined);
    expect(await damagedTable(join(directory, 'absent'))).to.equal(undefined);
  });

  it('passes over tables that no manifest names', async () => {
    await writeFile(join(directory, '999999.ldb'), Buffer.alloc(100, 7));
    await writeFile(join(directory, '888888.ldb'), '');
    expect(await damagedTable(directory)).to.equal(undefined);
  });

  it('finds every flipped bit, and says in which file', async () => {
    const name = await table();
    const sound = await readFile(join(directory, name));
    for (let at = 0; at < sound.length; at += 997) {
      const bytes = Buffer.from(sound);
      bytes[at]! ^= 1 << (at % 8);
      await writeFile(join(directory, name), bytes);
      expect(await damagedTable(directory), `byte ${at}`).to.match(new RegExp(`^file ${name} was changed \\(`));
    }
  });

  it('finds a table that was cut', async () => {
    const name = await table();
    const sound = await readFile(join(directory, name));
    for (const length of [0, 40, sound.length - 1]) {
      await writeFile(join(directory, name), sound.subarray(0, length));
      expect(await damagedTable(directory)).to.match(/was changed/);
    }
  });

  it('calls no file changed that the system does not let it read, for that may pass', async () => {
    const { name, current } = { name: await table(), current: await readFile(join(directory, 'CURRENT'), 'utf8') };
    for (const unreadable of [name, current.trim(), 'CURRENT']) {
      await rename(join(directory, unreadable), join(directory, 'aside'));
      // A link to itself cannot be opened, as no file can without a free descriptor.
      await symlink(unreadable, join(directory, unreadable));
      expect(await rejection(damagedTable(directory)), unreadable).to.include({ code: 'ELOOP' });
      await rename(join(directory, 'aside'), join(directory, unreadable));
    }
    expect(await damagedTable(directory)).to.equal(undefined);
  });

  it('leaves a manifest that can not be read, and a missing table, to LevelDB', async () => {
    await rm(join(directory, await table()));
    expect(await damagedTable(directory)).to.equal(undefined);
    await writeFile(join(directory, 'CURRENT'), 'MANIFEST-999999\n');
    expect(await damagedTable(directory)).to.equal(undefined);
  });
});
