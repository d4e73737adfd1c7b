import { appendFile, copyFile, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { Journal } from '../../../../raft/store/journal/journal.ts';
import type { Operation } from '../../../../raft/store/journal/journal-frames.ts';
import { entryKey } from '../../../../raft/store/record-keys.ts';
import { eventually } from '../../../support/eventually.ts';
import { rejection } from '../../../support/rejection.ts';
import { copyOf, inDirectory } from './log-directory.ts';

const segmentBytes = 256 * 1024;
const journalIn = (directory: string): Journal => new Journal({ directory: join(directory, 'journal'), segmentBytes });

/** Ends with its checksum, as all that the log writes. */
function sealed(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return Buffer.concat([bytes, sum]);
}

const put = (key: Buffer | string, ...pieces: Buffer[]): Operation => ({
  ...{ type: 'put', key: Buffer.from(key), value: pieces },
});
const text = (value: string): Buffer => sealed(Buffer.from(value));
const entry = (index: number, bytes: number): Operation => put(entryKey(index), sealed(Buffer.alloc(bytes, index)));

async function writeAll(directory: string, batches: readonly (readonly Operation[])[]): Promise<void> {
  const journal = journalIn(directory);
  await journal.read();
  for (const batch of batches) await journal.write(batch);
  await journal.close();
}

const filesIn = async (directory: string): Promise<string[]> => (await readdir(join(directory, 'journal'))).sort();
const textsIn = async (directory: string) => {
  const { records, ...rest } = await journalIn(directory).read();
  return { ...rest, records: [...records].map(([name, value]) => [name, value.subarray(0, -4).toString()]) };
};
const clean = { problems: [], complaints: [] };

describe('the journal', () => {
  it('gives back what was put last and nothing that was deleted', () =>
    inDirectory(async (directory) => {
      await writeAll(directory, [[put('a', text('one')), put('b', text('two'))], [put('a', text('three'))]]);
      await writeAll(directory, [[{ type: 'del', key: Buffer.from('b') }, put('c', text('four'))]]);
      const records = [
        ['a', 'three'],
        ['c', 'four'],
      ];
      expect(await textsIn(directory)).to.deep.equal({ ...clean, records });
    }));

  it('gives back values of many megabytes that come in pieces', () =>
    inDirectory(async (directory) => {
      const value = sealed(Buffer.alloc(3_000_000, 'abc'));
      const pieces = [value.subarray(0, 10), value.subarray(10, 2_000_000), value.subarray(2_000_000)];
      await writeAll(directory, [[put('a', text('one'))], [put('b', ...pieces), put('c', text('two'))]]);
      const { records, ...rest } = await journalIn(directory).read();
      expect(rest).to.deep.equal(clean);
      expect(records.get('b')?.equals(value)).to.equal(true);
    }));

  it('begins a new file with all that is not an entry, and lets go of those whose entries are needed no more', () =>
    inDirectory(async (directory) => {
      const journal = journalIn(directory);
      await journal.read();
      await journal.write([put('identity', text('me'))]);
      for (let index = 1; index <= 400; index++) {
        await journal.write([put('state', text(`after ${index}`)), entry(index, 10_000)]);
        journal.release(index - 20);
        if (index % 20 === 0)
          await eventually(async () => expect(await filesIn(directory)).not.to.include('ahead.partial'));
      }
      await journal.close();
      const files = await filesIn(directory);
      expect(files[0]).not.to.equal('0000000000000001.log');
      expect(files.length).to.be.within(1, 5);
      const { records, ...rest } = await journalIn(directory).read();
      expect(rest).to.deep.equal(clean);
      expect(records.get('identity')?.equals(text('me'))).to.equal(true);
      expect(records.get('state')?.equals(text('after 400'))).to.equal(true);
      for (let index = 380; index <= 400; index++) {
        const value = records.get(entryKey(index).toString('latin1'));
        expect(value?.equals(sealed(Buffer.alloc(10_000, index))), `entry ${index}`).to.equal(true);
      }
    }));

  it('takes no more room than its frames when it is closed, and after a kill from the next write on', () =>
    inDirectory(async (directory) => {
      const journal = journalIn(directory);
      await journal.read();
      const sizes = async () =>
        Promise.all(
          (await filesIn(directory)).map(async (name) => (await stat(join(directory, 'journal', name))).size),
        );
      for (let index = 1; index <= 12; index++) await journal.write([entry(index, 10_000)]);
      await eventually(async () => expect(await sizes()).to.include(segmentBytes));
      await copyOf(directory, async (killed) => {
        await writeAll(killed, [[entry(13, 10_000)]]);
        expect(
          Math.max(
            ...(await Promise.all(
              (await filesIn(killed)).map(async (name) => (await stat(join(killed, 'journal', name))).size),
            )),
          ),
        ).to.be.below(150_000);
        expect((await journalIn(killed).read()).records.size).to.equal(13);
      });
      await journal.close();
      expect(Math.max(...(await sizes()))).to.be.below(150_000);
    }));

  it('is closed where its disk takes nothing more', () =>
    inDirectory(async (directory) => {
      const journal = journalIn(directory);
      await journal.read();
      for (let index = 1; index <= 12; index++) await journal.write([entry(index, 10_000)]);
      await rm(join(directory, 'journal'), { recursive: true });
      await journal.close();
    }));

  it('goes on where no file can be made ahead', () =>
    inDirectory(async (directory) => {
      await mkdir(join(directory, 'journal', 'ahead.partial'), { recursive: true });
      await writeAll(
        directory,
        Array.from({ length: 200 }, (_, at) => [entry(at + 1, 10_000)]),
      );
      expect((await filesIn(directory)).filter((name) => name.endsWith('.log'))).to.have.length(2);
      const { records, ...rest } = await journalIn(directory).read();
      expect(rest).to.deep.equal(clean);
      expect(records.size).to.equal(200);
    }));

  describe('whose last write was cut off by a power failure', () => {
    const before = [
      ['a', 'one'],
      ['b', 'two'],
    ];
    const last = [put('a', text('three')), put('c', text('x'.repeat(3_000)))];
    const write = (directory: string) => writeAll(directory, [[put('a', text('one'))], [put('b', text('two'))], last]);

    /** Returns the place of the last frame in the only file. */
    async function lastFrame(
      directory: string,
    ): Promise<{ readonly path: string; readonly bytes: Buffer; readonly from: number }> {
      const [name = ''] = await filesIn(directory);
      const path = join(directory, 'journal', name);
      const bytes = await readFile(path);
      return { path, bytes, from: bytes.lastIndexOf('SlJ1') };
    }

    it('is as if it had never been made, wherever it was cut', () =>
      inDirectory(async (directory) => {
        await write(directory);
        const { path, bytes, from } = await lastFrame(directory);
        for (let at = from; at < bytes.length; at += 37) {
          await writeFile(path, bytes.subarray(0, at));
          expect(await textsIn(directory), `cut at ${at}`).to.deep.equal({ ...clean, records: before });
        }
      }));

    it('is as if it had never been made, whichever sectors of a file full of zeros it did not reach', () =>
      inDirectory(async (directory) => {
        await write(directory);
        const { path, bytes, from } = await lastFrame(directory);
        for (let sector = from - (from % 512); sector < bytes.length; sector += 512) {
          const torn = Buffer.concat([bytes, Buffer.alloc(4_096)]);
          torn.fill(0, Math.max(from, sector), sector + 512);
          await writeFile(path, torn);
          expect(await textsIn(directory), `without sector ${sector}`).to.deep.equal({ ...clean, records: before });
        }
      }));

    it('goes on behind it', () =>
      inDirectory(async (directory) => {
        await write(directory);
        const { path, bytes } = await lastFrame(directory);
        await writeFile(path, bytes.subarray(0, -100));
        await writeAll(directory, [[put('d', text('four'))]]);
        await writeAll(directory, [[put('e', text('five'))]]);
        const records = [...before, ['d', 'four'], ['e', 'five']];
        expect(await textsIn(directory)).to.deep.equal({ ...clean, records });
      }));

    it('is complained of where every sector was written and one is not what it was', () =>
      inDirectory(async (directory) => {
        await write(directory);
        const { path, bytes, from } = await lastFrame(directory);
        bytes[from + 1_000] = 1;
        await writeFile(path, Buffer.concat([bytes, Buffer.alloc(4_096)]));
        const { complaints, ...rest } = await textsIn(directory);
        expect(rest).to.deep.equal({ problems: [], records: before });
        expect(complaints).to.have.length(1);
      }));
  });

  it('is damaged where a frame is not what it was and others follow it', () =>
    inDirectory(async (directory) => {
      await writeAll(directory, [[put('a', text('one'))], [put('b', text('two'))], [put('c', text('three'))]]);
      await writeAll(directory, [[put('d', text('four'))]]);
      const names = await filesIn(directory);
      const path = join(directory, 'journal', names[0] ?? '');
      const bytes = await readFile(path);
      for (let at = 0; at < bytes.length; at++) {
        const changed = Buffer.from(bytes);
        changed[at] = (bytes[at] ?? 0) ^ 4;
        await writeFile(path, changed);
        const { problems, records } = await textsIn(directory);
        // What fills a frame up to eight bytes says nothing.
        if (problems.length === 0) expect(records, `byte ${at}`).to.have.length(4);
      }
      const file = await open(path, 'r+');
      await file.write(bytes);
      await file.truncate(bytes.lastIndexOf('SlJ1'));
      await file.close();
      expect((await textsIn(directory)).problems).to.deep.equal([
        `frame 3 of the journal is missing before ${names[1]}`,
      ]);
    }));

  it('removes what a rejected write left, and writes on behind the last frame', () =>
    inDirectory(async (directory) => {
      const journal = journalIn(directory);
      await journal.read();
      await journal.write([put('a', text('one')), entry(1, 5_000)]);
      const file = join(directory, 'journal', '0000000000000001.log');
      const { size } = await stat(file);
      await appendFile(file, Buffer.alloc(3_000, 7));
      await journal.undo();
      expect((await stat(file)).size).to.equal(size);
      await journal.write([put('b', text('two'))]);
      await journal.close();
      const records = [
        ['a', 'one'],
        ['b', 'two'],
      ];
      const found = await textsIn(directory);
      expect({ ...found, records: found.records.filter(([name]) => name === 'a' || name === 'b') }).to.deep.equal({
        ...clean,
        records,
      });
    }));

  it('goes on in the file of that name after a rejected write: the disk may have been mounted anew below it', () =>
    inDirectory(async (directory) => {
      const journal = journalIn(directory);
      await journal.read();
      await journal.write([put('a', text('one'))]);
      const file = join(directory, 'journal', '0000000000000001.log');
      await copyFile(file, `${file}.anew`);
      await rename(`${file}.anew`, file);
      await journal.undo();
      await journal.write([put('a', text('two'))]);
      await journal.close();
      expect(await textsIn(directory)).to.deep.equal({ ...clean, records: [['a', 'two']] });
    }));

  it('does not go on where the last frame is not what was written', () =>
    inDirectory(async (directory) => {
      const journal = journalIn(directory);
      await journal.read();
      await journal.write([put('a', text('one'))]);
      const file = join(directory, 'journal', '0000000000000001.log');
      const bytes = await readFile(file);
      bytes[40] = (bytes[40] ?? 0) ^ 1;
      await writeFile(file, bytes);
      expect((await rejection(journal.undo())).message).to.match(/frame 1 of the journal cannot be read back/);
      await journal.close();
    }));
});
