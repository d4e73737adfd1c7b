import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

import { type CheckpointMeta, emptyConfig } from '../../../../raft/core/types.ts';
import { CheckpointDirectory } from '../../../../raft/store/checkpoint-directory.ts';
import {
  listCheckpoints,
  removePartials,
  verifyCheckpoint,
  writeCheckpoint,
} from '../../../../raft/store/checkpoint-files.ts';
import { setMarker } from '../../../../raft/store/markers.ts';
import { type CrashCopy, withCrashCopies } from './crash-copies.ts';
import { appendBatch, inDirectory, reopen, storeIn, write } from './log-directory.ts';

const clusterId = '0123456789abcdef0123456789abcdef';

describe('real files, when the process ends at any of its operations', () => {
  it('hold the log, the identity and the cluster that were told to the outside', () =>
    inDirectory((directory) =>
      withCrashCopies(
        directory,
        async (tell) => {
          const store = storeIn(directory);
          const { boots } = await store.open();
          tell(`start ${boots}`);
          await store.join(clusterId, emptyConfig);
          tell('member');
          for (const [first, told] of [
            [2, 'two'],
            [5, 'five'],
          ] as const) {
            await write(store, appendBatch(first, 3, { commit: first - 1 }));
            tell(told);
          }
          await store.close({ clean: true });
          tell('closed');
        },
        async (copies) => {
          expect(copies.length).to.be.greaterThan(15);
          for (const copy of copies) await holdsWhatWasTold(copy);
        },
      ),
    ));

  it('hold a suspicion until it is settled, and a poisoning for ever', () =>
    inDirectory(async (directory) => {
      await reopen(directory);
      await setMarker(directory, 'SUSPECT', 'for the test');
      await withCrashCopies(
        directory,
        async (tell) => {
          const store = storeIn(directory);
          await store.open();
          tell('open');
          await store.trust();
          tell('trusted');
          store.poison('for the test');
          await store.close({ clean: false });
          tell('poisoned');
        },
        async (copies) => {
          for (const { directory: copy, operation, told } of copies) {
            const { kind } = (await reopen(copy)).verdict;
            if (told.includes('poisoned')) expect(kind, operation).to.equal('poisoned');
            else if (told.includes('trusted')) expect(kind, operation).not.to.equal('suspect');
            else if (!told.includes('open')) expect(kind, operation).to.equal('suspect');
            else expect(kind, operation).to.be.oneOf(['suspect', 'clean']);
          }
        },
      );
    }));

  it('hold every checkpoint that was reported and not given up, and none that is not whole', () =>
    inDirectory((source) =>
      inDirectory(async (directory) => {
        const metas = await Promise.all([10, 20, 30].map((index) => checkpointIn(source, index)));
        await withCrashCopies(
          directory,
          async (tell) => {
            const store = new CheckpointDirectory(directory, (error) => expect.fail(String(error)));
            for (const index of [10, 20]) {
              await checkpointIn(directory, index);
              tell(`has ${index}`);
            }
            await receive(store, metas[2]!, await readFile(join(source, metas[2]!.file)));
            tell('has 30');
            tell('gives up 10');
            store.prune([metas[1]!]);
            await store.close();
            tell('lost 10');
          },
          async (copies) => {
            expect(copies.length).to.be.greaterThan(30);
            for (const copy of copies) await holdsCheckpoints(copy, metas);
          },
        );
      }),
    ));
});

async function checkpointIn(directory: string, index: number): Promise<CheckpointMeta> {
  const content = [Buffer.from('one half of '), Buffer.from(`the state at ${index}`)];
  return { ...(await writeCheckpoint(directory, { index, term: 1, content })), time: 0, config: emptyConfig };
}

async function receive(store: CheckpointDirectory, meta: CheckpointMeta, bytes: Uint8Array): Promise<void> {
  const collector = store.collect(meta);
  for (const piece of [bytes.subarray(0, 20), bytes.subarray(20)])
    expect(await new Promise((resolve) => collector.append(piece, resolve))).to.equal(true);
  expect(await new Promise((resolve) => collector.finish(resolve))).to.deep.include({ index: meta.index });
}

async function holdsWhatWasTold({ directory, operation, told }: CrashCopy): Promise<void> {
  const { boot, boots, identity, verdict } = await reopen(directory);
  const where = `after ${operation}, told ${told.join(', ')}`;
  expect(verdict.kind, where).to.equal('clean');
  if (told.includes('start 1')) expect(boots, where).to.be.greaterThan(1);
  if (told.includes('member')) expect(identity.clusterId, where).to.equal(clusterId);
  const lastIndex = boot.base.index + boot.entries.length;
  // Who belongs to the cluster it founds has its first entry.
  if (identity.clusterId !== undefined) expect(lastIndex, where).to.be.at.least(1);
  if (told.includes('two')) expect(lastIndex, where).to.be.at.least(4);
  if (told.includes('five')) expect(lastIndex, where).to.equal(7);
}

async function holdsCheckpoints(
  { directory, operation, told }: CrashCopy,
  metas: readonly CheckpointMeta[],
): Promise<void> {
  await removePartials(directory);
  const names = await listCheckpoints(directory);
  const where = `after ${operation}, told ${told.join(', ')}`;
  for (const meta of metas) {
    const isHere = names.includes(meta.file);
    const isKept = told.includes(`has ${meta.index}`) && !told.includes(`gives up ${meta.index}`);
    if (isKept || told.includes(`lost ${meta.index}`)) expect(isHere, where).to.equal(isKept);
    if (isHere) await verifyCheckpoint(join(directory, meta.file), meta);
  }
}
