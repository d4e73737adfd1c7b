import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { readSlotFile, SlotFile, type SlotLayout, slotFileWith } from '../../../disk/slot-file.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const layout: SlotLayout<number> = {
  bytes: 8,
  encode: (value) => {
    const slot = Buffer.alloc(8);
    slot.writeUInt32BE(value, 0);
    slot.writeUInt32BE(crc32(slot.subarray(0, 4)), 4);
    return slot;
  },
  decode: (slot) => (slot.readUInt32BE(4) === crc32(slot.subarray(0, 4)) ? slot.readUInt32BE(0) : undefined),
  order: (value) => value,
};

describe('a slot file', () => {
  const directories = new TemporaryDirectories();
  let path: string;

  beforeEach(async () => {
    path = join(await directories.make(), 'SLOTS');
  });
  afterEach(() => directories.removeAll());

  async function write(...values: number[]): Promise<void> {
    const file = await SlotFile.open(path, layout);
    for (const value of values) await file.write(value);
    await file.sync();
    await file.close();
  }

  it('says whether there is a file, and whether anything was written to it', async () => {
    expect(await readSlotFile(path, layout)).to.equal('missing');
    await write();
    expect(await readSlotFile(path, layout)).to.equal('empty');
    await writeFile(path, Buffer.alloc(9000, 1));
    expect(await readSlotFile(path, layout)).to.equal('damaged');
    await writeFile(path, slotFileWith(3, layout));
    expect(await readSlotFile(path, layout)).to.deep.equal({ newest: 3 });
  });

  it('holds the newest value, through every start', async () => {
    for (let newest = 1; newest < 12; newest += 1) {
      await write(newest);
      expect(await readSlotFile(path, layout)).to.deep.equal({ newest });
    }
  });

  it('loses only the value that was being written when a write is torn, also the first one of a start', async () => {
    for (let value = 1; value < 8; value += 1) {
      await write(value);
      const before = await readFile(path);
      await write(value + 1);
      const after = await readFile(path);
      for (const torn of [0, 4096]) {
        const bytes = Buffer.from(after);
        if (before.subarray(torn, torn + 8).equals(after.subarray(torn, torn + 8))) continue;
        bytes.fill(0xee, torn + 2, torn + 6);
        await writeFile(path, bytes);
        expect(await readSlotFile(path, layout)).to.deep.equal({ newest: value });
      }
      await writeFile(path, before);
    }
  });
});
