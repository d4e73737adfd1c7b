import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { generationDirectory, LevelStore } from '../../../src/state/level-store.ts';
import { nodeOfOne, routeDraft } from '../../support/node-of-one.ts';

describe('Proposer on one node', () => {
  it('answers a write once it is applied and visible', async () => {
    const { log, state } = await nodeOfOne();
    const result = await log.propose(routeDraft('a'));
    expect(result).to.deep.equal({ index: 1, status: 201, kind: 'routes', id: 'a' });
    expect(state.view.get('routes', 'a')?.revision).to.equal(1);
  });

  it('gives each command the next index', async () => {
    const { log } = await nodeOfOne();
    const results = await Promise.all(['a', 'b', 'a'].map((id) => log.propose(routeDraft(id))));
    expect(results.map(({ index, status }) => [index, status])).to.deep.equal([
      [1, 201],
      [2, 201],
      [3, 409],
    ]);
  });

  it('goes on after a restart where it ended', async () => {
    const storePath = await mkdtemp(join(tmpdir(), 'sluice-'));
    const directory = generationDirectory(storePath, 0);
    try {
      const first = await nodeOfOne({ store: await LevelStore.open(directory) });
      await first.log.propose(routeDraft('a'));
      const { hash } = first.state.view;
      await first.close();
      const second = await nodeOfOne({ store: await LevelStore.open(directory) });
      expect(second.state.view).to.include({ applied: 1, changedAt: 1, hash });
      expect(second.state.identity).to.deep.equal({ ...first.state.identity, boot: 2 });
      expect(second.state.view.list('routes').map(({ json }) => json)).to.deep.equal(['{"id":"a","name":"a"}']);
      expect(await second.log.propose(routeDraft('b'))).to.include({ index: 2, status: 201 });
      await second.close();
    } finally {
      await rm(storePath, { recursive: true });
    }
  });
});
