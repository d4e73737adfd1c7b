import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import { readLevel } from '../../../disk/level-reader.ts';
import { seededRandom } from '../../support/random.ts';
import { inDirectory } from '../raft/store/log-directory.ts';

type Database = ClassicLevel<string, Uint8Array>;

const openIn = async (directory: string): Promise<Database> => {
  const sizes = { compression: false, writeBufferSize: 32 * 1024 };
  const database: Database = new ClassicLevel(directory, { ...sizes, keyEncoding: 'utf8', valueEncoding: 'view' });
  await database.open();
  return database;
};

const rowsOf = async (database: Database) => {
  const rows: [string, string][] = [];
  for await (const [key, value] of database.iterator()) rows.push([key, Buffer.from(value).toString('latin1')]);
  return rows;
};

const readRows = async (directory: string) =>
  [...(await readLevel(directory))].map(([name, value]) => [
    Buffer.from(name, 'latin1').toString(),
    value.toString('latin1'),
  ]);

describe('the reader of a LevelDB database that writes nothing', () => {
  it('finds what LevelDB finds, in tables and write-ahead files, over overwritten and deleted rows', () =>
    inDirectory(async (parent) => {
      const directory = join(parent, 'level');
      const random = seededRandom(7);
      for (let life = 0; life < 4; life++) {
        const database = await openIn(directory);
        for (let round = 0; round < 60; round++) {
          const operations = Array.from({ length: 1 + Math.floor(random() * 20) }, () => {
            const key = `route/ä${Math.floor(random() * 300)}`;
            const value = Buffer.alloc(Math.floor(random() * 400), Math.floor(random() * 255));
            return random() < 0.3 ? ({ type: 'del', key } as const) : ({ type: 'put', key, value } as const);
          });
          await database.batch(operations, { sync: true });
        }
        const expected = await rowsOf(database);
        expect(expected.length).to.be.greaterThan(50);
        expect(await readRows(directory), `life ${life}, open`).to.deep.equal(expected);
        await database.close();
        const names = await readdir(directory);
        expect(await readRows(directory), `life ${life}, closed`).to.deep.equal(expected);
        expect(await readdir(directory), 'nothing was made').to.deep.equal(names);
        expect(names.some((name) => name.endsWith('.ldb'))).to.equal(true);
      }
    }));
});
