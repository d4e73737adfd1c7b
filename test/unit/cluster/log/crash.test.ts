// A crash at any moment of any write: what was answered is there afterwards, what is there was proposed, and the state is
// one that the log passed through.
import { expect } from 'chai';
import type { Draft, Result } from '../../../../src/state/command.ts';
import { type Cut, cuts, LosingDisk } from '../../../support/losing-store.ts';
import { type NodeOfOne, nodeOfOne, routeDraft } from '../../../support/node-of-one.ts';
import { rejection } from '../../../support/rejection.ts';
import { contentOf } from '../../../support/store-content.ts';

const drafts: readonly Draft[] = [
  routeDraft('a'),
  routeDraft('b'),
  { op: 'capture', id: 's', name: 's', createdAt: '2026-01-01T00:00:00.000Z', checkedAt: 2, values: {} },
  { op: 'activate', id: 's' },
  { op: 'delete', kind: 'routes', id: 'a' },
  routeDraft('c'),
];

const quiet = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
};

/** Proposes one after the other until one is not answered any more; gives the answers. */
async function proposeAll({ log }: NodeOfOne, list: readonly Draft[]): Promise<Result[]> {
  const answers: Result[] = [];
  for (const draft of list) {
    const before = answers.length;
    void log.propose(draft).then(
      (result) => answers.push(result),
      () => undefined,
    );
    await quiet();
    if (answers.length === before) break;
  }
  return answers;
}

/** Content after each index, without a crash. */
async function reference(): Promise<Map<number, string>> {
  const node = await nodeOfOne({ store: new LosingDisk().open() });
  const contents = new Map([[0, withoutHash(node)]]);
  for (const draft of drafts) {
    const { index } = await node.log.propose(draft);
    contents.set(index, withoutHash(node));
  }
  return contents;
}

/** The hash covers request ids, which hold the random incarnation. */
const withoutHash = ({ state }: NodeOfOne): string => contentOf(state.view).replace(/"hash":"[0-9a-f]+"/, '');

describe('a node of one whose machine crashes', () => {
  for (const cut of cuts) {
    it(`keeps every answered write when the crash comes ${cut}`, async () => {
      const expected = await reference();
      for (let write = 2; write <= drafts.length + 1; write++) await crashAndCompare(write, cut, expected);
    });
  }

  async function crashAndCompare(write: number, cut: Cut, expected: ReadonlyMap<number, string>): Promise<void> {
    const disk = new LosingDisk();
    disk.crashAt(write, cut);
    const answers = await proposeAll(await nodeOfOne({ store: disk.open() }), drafts);
    expect(answers).to.have.length(write - 2);
    const after = await nodeOfOne({ store: disk.open() });
    const { applied } = after.state.view;
    expect(applied).to.equal(answers.length + (cut === 'before the batch' ? 0 : 1));
    expect(withoutHash(after)).to.equal(expected.get(applied));
    const rest = await proposeAll(after, drafts.slice(applied));
    expect(rest.map(({ index }) => index)).to.deep.equal(drafts.slice(applied).map((_, at) => applied + at + 1));
    expect(withoutHash(after)).to.equal(expected.get(drafts.length));
  }

  for (const cut of cuts) {
    it(`starts again when the crash comes ${cut} of the very first start`, async () => {
      const disk = new LosingDisk();
      disk.crashAt(1, cut);
      void nodeOfOne({ store: disk.open() });
      await quiet();
      const node = await nodeOfOne({ store: disk.open() });
      expect(await node.log.propose(routeDraft('a'))).to.include({ index: 1, status: 201 });
    });
  }

  it('never uses a boot number twice, whenever the start was cut', async () => {
    for (const cut of cuts) {
      const disk = new LosingDisk();
      await nodeOfOne({ store: disk.open() });
      disk.crashAt(2, cut);
      void nodeOfOne({ store: disk.open() });
      await quiet();
      const { state } = await nodeOfOne({ store: disk.open() });
      expect(state.identity.boot).to.be.greaterThan(cut === 'before the batch' ? 1 : 2);
    }
  });

  it('refuses to start when the disk lost what it had confirmed', async () => {
    for (const lost of [1, 2, 5]) {
      const disk = new LosingDisk();
      expect(await proposeAll(await nodeOfOne({ store: disk.open() }), drafts)).to.have.length(drafts.length);
      disk.loseBatches(lost);
      const error = await rejection(nodeOfOne({ store: disk.open() }));
      expect(error.name).to.equal('StoreDamaged');
      expect(error.message).to.include(`answered up to index 6, but it ends at ${6 - lost}`);
    }
  });

  it('refuses to start when the disk lost nothing but the count of starts', async () => {
    const disk = new LosingDisk();
    await nodeOfOne({ store: disk.open() });
    await nodeOfOne({ store: disk.open() });
    disk.loseBatches(1);
    const error = await rejection(nodeOfOne({ store: disk.open() }));
    expect(error.message).to.match(/it was started 2 times, but remembers 1/);
  });
});
