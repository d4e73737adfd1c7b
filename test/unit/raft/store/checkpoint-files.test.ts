import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

import { emptyConfig } from '../../../../raft/core/types.ts';
import { CheckpointDirectory } from '../../../../raft/store/checkpoint-directory.ts';
import {
  type CheckpointFile,
  checkpointName,
  listCheckpoints,
  readCheckpoint,
  removePartials,
  unwantedCheckpoints,
  verifyCheckpoint,
  writeCheckpoint,
} from '../../../../raft/store/checkpoint-files.ts';
import { eventually } from '../../../support/eventually.ts';
import { rejection } from '../../../support/rejection.ts';
import { inDirectory } from './log-directory.ts';

describe('checkpoint files', () => {
  it('give back the content they were written with', () =>
    inDirectory(async (directory) => {
      const file = await writeCheckpoint(directory, { index: 42, term: 7, content: slices('one ', 'two ', 'three') });
      expect(file.file).to.equal('00000000000000000042-7.checkpoint');
      expect(file.size).to.equal((await stat(join(directory, file.file))).size);
      expect(await contentOf(directory, file)).to.equal('one two three');
    }));

  it('may go when they are older than all that are named, for newer ones may be in no record yet', () => {
    const [a, b, c, d] = [10, 20, 30, 40].map((index) => checkpointName(index, 7));
    const names = [d ?? '', c ?? '', b ?? '', a ?? ''];
    expect(unwantedCheckpoints(names, new Set([b ?? '', d ?? '']))).to.deep.equal([a]);
    expect(unwantedCheckpoints(names, new Set([c ?? '']))).to.deep.equal([b, a]);
    expect(unwantedCheckpoints(names, new Set())).to.deep.equal([]);
  });

  it('are refused with a changed byte anywhere', () =>
    inDirectory(async (directory) => {
      const file = await writeCheckpoint(directory, { index: 42, term: 7, content: slices('content') });
      const path = join(directory, file.file);
      const sound = await readFile(path);
      for (let at = 0; at < sound.length; at++) {
        const damaged = Buffer.from(sound);
        damaged[at] = damaged[at]! ^ 4;
        await writeFile(path, damaged);
        expect((await rejection(verifyCheckpoint(path, file))).message).to.match(/damaged/);
      }
    }));

  it('leave nothing behind when their content cannot be produced', () =>
    inDirectory(async (directory) => {
      await rejection(writeCheckpoint(directory, { index: 1, term: 1, content: failing() }));
      expect(await readdir(directory)).to.deep.equal([]);
    }));

  it('are listed newest first, without unfinished ones', () =>
    inDirectory(async (directory) => {
      for (const index of [9, 100, 20]) await writeCheckpoint(directory, { index, term: 1, content: slices('x') });
      await writeFile(join(directory, 'incoming.partial'), 'x');
      const indexes = (await listCheckpoints(directory)).map((name) => Number.parseInt(name, 10));
      expect(indexes).to.deep.equal([100, 20, 9]);
      await removePartials(directory);
      expect(await readdir(directory)).to.have.length(3);
    }));
});

describe('a checkpoint on its way between nodes', () => {
  it('arrives whole', () =>
    withTransfer(async ({ meta, sender, receiver, to }) => {
      const collector = receiver.collect(meta);
      for (let at = 0; at < meta.size; at += 10) await append(collector, (await piece(sender, meta, at, 10))!);
      const received = await finish(collector);
      expect(received).to.deep.equal({ ...meta, file: '00000000000000000042-7.checkpoint' });
      expect(await contentOf(to, received!)).to.equal('twenty-five bytes of state');
    }));

  it('goes on where it stopped when it is offered again', () =>
    withTransfer(async ({ meta, sender, receiver }) => {
      await append(receiver.collect(meta), (await piece(sender, meta, 0, 30))!);
      const resumed = receiver.collect({ ...meta, file: 'named-otherwise-by-the-new-leader' });
      expect(resumed.held).to.equal(30);
      await append(resumed, (await piece(sender, meta, 30, 100))!);
      expect(await finish(resumed)).to.include({ sha256: meta.sha256 });
    }));

  it('starts over when another one is offered', () =>
    withTransfer(async ({ meta, sender, receiver, to }) => {
      await append(receiver.collect(meta), (await piece(sender, meta, 0, 30))!);
      expect(receiver.collect({ ...meta, index: 43 }).held).to.equal(0);
      await eventually(async () => expect(await readdir(to)).to.have.length(1));
    }));

  it('is refused and removed when what arrived is not what was announced', () =>
    withTransfer(async ({ meta, receiver, to }) => {
      const collector = receiver.collect(meta);
      expect(await append(collector, new Uint8Array(meta.size))).to.equal(true);
      expect(await finish(collector)).to.equal(undefined);
      await eventually(async () => expect(await readdir(to)).to.deep.equal([]));
    }));

  it('takes no more bytes than announced', () =>
    withTransfer(async ({ meta, receiver }) => {
      expect(await append(receiver.collect(meta), new Uint8Array(meta.size + 1))).to.equal(false);
    }));

  it('is not sent from a file that was damaged at rest', () =>
    withTransfer(async ({ meta, sender, from }) => {
      await writeFile(join(from, meta.file), 'something else of whatever length');
      expect(await piece(sender, meta, 0, 10)).to.equal(undefined);
    }));

  it('keeps its file from being pruned until it is closed', () =>
    withTransfer(async ({ meta, sender, from }) => {
      const newer = { ...meta, ...(await writeCheckpoint(from, { index: 50, term: 7, content: slices('more') })) };
      sender.prune([newer]);
      // Begun after the prune was asked for, and before it looks.
      const reader = sender.read(meta);
      await sender.close();
      expect(await piece(sender, meta, 0, 5)).to.have.length(5);
      reader.close();
      reader.close();
      sender.prune([newer]);
      await eventually(async () => expect(await listCheckpoints(from)).to.deep.equal([newer.file]));
    }));

  it('is left alone when its directory closes while it is being finished', () =>
    withTransfer(async ({ meta, sender, receiver, to }) => {
      const collector = receiver.collect(meta);
      await append(collector, (await piece(sender, meta, 0, meta.size)) ?? new Uint8Array());
      let finished = false;
      collector.finish(() => {
        finished = true;
      });
      await receiver.close();
      expect(finished).to.equal(true);
      const names = await readdir(to);
      expect(names.filter((name) => name.endsWith('.partial'))).to.deep.equal([]);
    }));
});

type Meta = CheckpointFile & { time: number; config: typeof emptyConfig };
interface Transfer {
  readonly meta: Meta;
  readonly from: string;
  readonly to: string;
  readonly sender: CheckpointDirectory;
  readonly receiver: CheckpointDirectory;
}

function withTransfer(use: (transfer: Transfer) => Promise<void>): Promise<void> {
  return inDirectory((from) =>
    inDirectory(async (to) => {
      const content = slices('twenty-five bytes of state');
      const file = await writeCheckpoint(from, { index: 42, term: 7, content });
      const meta = { ...file, time: 1, config: emptyConfig };
      const store = (directory: string) => new CheckpointDirectory(directory, (error) => expect.fail(String(error)));
      const receiver = store(to);
      await use({ meta, from, to, sender: store(from), receiver }).finally(() => receiver.close());
    }),
  );
}

function piece(store: CheckpointDirectory, meta: Meta, at: number, length: number): Promise<Uint8Array | undefined> {
  const reader = store.read(meta);
  return new Promise<Uint8Array | undefined>((resolve) => reader.read(at, length, resolve)).finally(() =>
    reader.close(),
  );
}

function append(collector: ReturnType<CheckpointDirectory['collect']>, data: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => collector.append(data, resolve));
}

function finish(collector: ReturnType<CheckpointDirectory['collect']>) {
  return new Promise<Awaited<Meta> | undefined>((resolve) => collector.finish(resolve));
}

function slices(...texts: string[]): Uint8Array[] {
  return texts.map((text) => Buffer.from(text));
}

function* failing(): Generator<Uint8Array> {
  yield Buffer.from('a beginning');
  throw new Error('state is gone');
}

async function contentOf(directory: string, file: CheckpointFile): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of readCheckpoint(directory, file)) parts.push(part);
  return Buffer.concat(parts).toString();
}
