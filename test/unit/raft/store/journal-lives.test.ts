// The journal against a map: lives of random writes, each ended by a stop, a kill or a power failure in the middle of a
// write, after which the next one reads what is there.
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { Journal, nameOf } from '../../../../raft/store/journal/journal.ts';
import type { Operation } from '../../../../raft/store/journal/journal-frames.ts';
import { entryKey, indexOfEntry } from '../../../../raft/store/record-keys.ts';
import { seededRandom } from '../../../support/random.ts';
import { inDirectory } from './log-directory.ts';

const runs = Number(process.env.SLUICE_JOURNAL_RUNS ?? 20);
const seed = Number(process.env.SLUICE_SEED ?? 20_264);
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const sectorBytes = 512;

/** Expected content of the log: entries below `base` may be there or not. */
interface Model {
  readonly records: Map<string, Buffer>;
  base: number;
  last: number;
}

const copyOf = ({ records, base, last }: Model): Model => ({ records: new Map(records), base, last });

class Lives {
  readonly #random: () => number;
  readonly #directory: string;
  readonly #segmentBytes: number;
  readonly ends = { stopped: 0, made: 0, lost: 0 };
  #model: Model = { records: new Map(), base: 0, last: 0 };

  constructor(random: () => number, directory: string) {
    this.#random = random;
    this.#directory = directory;
    this.#segmentBytes = 1 + this.#upTo(32) * 1024;
  }

  #upTo(n: number): number {
    return Math.floor(this.#random() * n);
  }

  async run(lives: number): Promise<void> {
    for (let life = 0; life < lives; life++) await this.#life(join(this.#directory, String(life)), life);
  }

  async #life(next: string, life: number): Promise<void> {
    const place = join(this.#directory, 'now');
    const journal = new Journal({ directory: place, segmentBytes: this.#segmentBytes });
    const { records, problems, complaints } = await journal.read();
    this.#expectSame(records, problems, complaints, life);
    const writes = 1 + this.#upTo(60);
    for (let write = 0; write < writes; write++) {
      const after = copyOf(this.#model);
      const operations = this.#batch(after);
      if (write === writes - 1 && this.#random() < 0.7) {
        const found = await this.#cutOff(journal, operations, next);
        this.ends[found] += 1;
        this.#model = found === 'made' ? after : this.#model;
        await journal.close();
        await rm(place, { recursive: true });
        await cp(next, place, { recursive: true });
        await rm(next, { recursive: true });
        return;
      }
      await journal.write(operations);
      this.#model = after;
      if (this.#random() < 0.3) {
        this.#model.base += this.#upTo(this.#model.last - this.#model.base + 1);
        journal.release(this.#model.base + 1);
      }
    }
    await journal.close();
    this.ends.stopped += 1;
  }

  /** Some of the last write reaches the disk: all, a beginning, or all but some sectors. */
  async #cutOff(journal: Journal, operations: readonly Operation[], copy: string): Promise<'made' | 'lost'> {
    const place = join(this.#directory, 'now');
    const before = await this.#files(place);
    await journal.write(operations);
    await copyWhileItLives(place, copy);
    for (const [name, bytes] of await this.#files(copy)) {
      const old = before.get(name) ?? Buffer.alloc(0);
      const from = differsFrom(old, bytes);
      if (from === bytes.length || !name.endsWith('.log') || bytes.subarray(from).every((byte) => byte === 0)) continue;
      const end = bytes.length - trailingZeros(bytes);
      const kind = this.#upTo(3);
      if (kind === 0) return 'made';
      if (kind === 1 && old.length <= from) {
        await writeFile(join(copy, name), bytes.subarray(0, from + this.#upTo(end - from)));
        return 'lost';
      }
      const sector =
        Math.floor(from / sectorBytes) + this.#upTo(Math.ceil(end / sectorBytes) - Math.floor(from / sectorBytes));
      const [first, behind] = [Math.max(from, sector * sectorBytes), Math.min(end, (sector + 1) * sectorBytes)];
      if (bytes.subarray(first, behind).every((byte) => byte === 0)) return 'made';
      const torn = Buffer.from(bytes).fill(0, first, behind);
      await writeFile(join(copy, name), torn);
      return 'lost';
    }
    return 'made';
  }

  async #files(place: string): Promise<Map<string, Buffer>> {
    const names = existsSync(place) ? await readdir(place) : [];
    const files = new Map<string, Buffer>();
    for (const name of names) files.set(name, await readFile(join(place, name)).catch(() => Buffer.alloc(0)));
    return files;
  }

  /** Singles, new entries, and now and then a suffix that goes. */
  #batch(model: Model): readonly Operation[] {
    const operations: Operation[] = [];
    const put = (key: Buffer, bytes: number) => {
      const value = sealed(Buffer.from(Array.from({ length: bytes }, () => this.#upTo(256))));
      operations.push({ type: 'put', key, value: this.#cut(value) });
      model.records.set(nameOf(key), value);
    };
    const del = (key: Buffer) => {
      operations.push({ type: 'del', key });
      model.records.delete(nameOf(key));
    };
    if (this.#random() < 0.1 && model.last > model.base) {
      const from = model.last - this.#upTo(Math.min(5, model.last - model.base));
      for (let index = from; index <= model.last; index++) del(entryKey(index));
      model.last = from - 1;
    }
    for (let count = this.#upTo(4); count > 0; count--)
      put(entryKey(++model.last), this.#upTo(this.#random() < 0.05 ? 90_000 : 900));
    const single = Buffer.from(`single ${this.#upTo(5)}`);
    if (this.#random() < 0.1) del(single);
    else put(single, this.#upTo(80));
    return operations;
  }

  #cut(value: Buffer): readonly Buffer[] {
    const at = this.#upTo(Math.max(1, value.length - 4));
    return this.#random() < 0.5 ? [value] : [value.subarray(0, at), value.subarray(at)];
  }

  #expectSame(
    records: ReadonlyMap<string, Buffer>,
    problems: readonly string[],
    complaints: readonly string[],
    life: number,
  ) {
    expect({ problems, complaints }, `life ${life}`).to.deep.equal({ problems: [], complaints: [] });
    const counts = (name: string) =>
      (indexOfEntry(Buffer.from(name, 'latin1')) ?? Number.POSITIVE_INFINITY) > this.#model.base;
    const plain = (from: ReadonlyMap<string, Buffer>) =>
      [...from]
        .filter(([name]) => counts(name))
        .map(([name, value]) => `${name} ${crc32(value)}`)
        .sort();
    expect(plain(records), `life ${life}`).to.deep.equal(plain(this.#model.records));
  }
}

/** Files come and go meanwhile, in the order in which they would be found after a crash. (`cp` never ends when one gets shorter.) */
async function copyWhileItLives(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const name of await readdir(from)) {
    const bytes = await readFile(join(from, name)).catch(() => undefined);
    if (bytes !== undefined) await writeFile(join(to, name), bytes);
  }
}

function sealed(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return Buffer.concat([bytes, sum]);
}

function differsFrom(old: Buffer, now: Buffer): number {
  let at = 0;
  while (at < now.length && at < old.length && old[at] === now[at]) at += 1;
  return at < old.length ? at : Math.max(at, old.length);
}

function trailingZeros(bytes: Buffer): number {
  let count = 0;
  while (count < bytes.length && bytes[bytes.length - 1 - count] === 0) count += 1;
  return count;
}

describe('lives of the journal', function () {
  this.timeout(60_000 + runs * 2_000);

  it(`are as a map would have them, after any end, ${runs} times`, async () => {
    const ends = { stopped: 0, made: 0, lost: 0 };
    for (let run = 0; run < runs; run++) {
      await inDirectory(async (directory) => {
        const lives = new Lives(seededRandom(seed + run), directory);
        await lives.run(8);
        for (const end of ['stopped', 'made', 'lost'] as const) ends[end] += lives.ends[end];
      }, parent);
    }
    expect(Math.min(ends.stopped, ends.made, ends.lost), JSON.stringify(ends)).to.be.above(runs);
  });
});
