import { randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { generationDirectory, LevelStore } from '../../../src/state/level-store.ts';
import { RowCodec } from '../../../src/state/row-codec.ts';
import { SpecText } from '../../../src/state/spec-text.ts';
import { witnessName } from '../../../src/state/store-witness.ts';
import { nodeOfOne, routeDraft } from '../../support/node-of-one.ts';
import { rejection } from '../../support/rejection.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const key = new Uint8Array(32).fill(1);
const otherKey = new Uint8Array(32).fill(2);
const secretDraft = {
  op: 'put',
  kind: 'secrets',
  id: 's',
  mode: 'create',
  spec: new SpecText({ id: 's', name: 's', value: 'v' }),
} as const;
const captureDraft = (checkedAt: number) =>
  ({ op: 'capture', id: 'p', name: 'p', createdAt: '2026-01-01T00:00:00.000Z', checkedAt, values: {} }) as const;

describe('opening a store', () => {
  const directories = new TemporaryDirectories();
  let directory: string;

  const start = async (encryptionKey?: Uint8Array) =>
    await nodeOfOne({ store: await LevelStore.open(directory), encryptionKey });

  /** Starts once, writes the drafts and stops. */
  async function written(encryptionKey: Uint8Array | undefined, ...drafts: Parameters<typeof routeDraft>[0][]) {
    const node = await start(encryptionKey);
    for (const id of drafts) await node.log.propose(routeDraft(id));
    await node.close();
    return node;
  }

  beforeEach(async () => {
    directory = generationDirectory(await directories.make(), 0);
  });

  afterEach(() => directories.removeAll());

  it('makes an identity once and counts the starts', async () => {
    const first = (await written(undefined)).state.identity;
    const second = (await written(undefined)).state.identity;
    expect(first.clusterId).to.match(/^[0-9a-f]{32}$/);
    expect(first.boot).to.equal(1);
    expect(second).to.deep.equal({ ...first, boot: 2 });
  });

  it('gives every store another identity', async () => {
    const first = (await written(undefined)).state.identity;
    directory = generationDirectory(await directories.make(), 0);
    const second = (await written(undefined)).state.identity;
    expect(second.clusterId).to.not.equal(first.clusterId);
    expect(second.incarnation).to.not.equal(first.incarnation);
  });

  it('says so when another handle has the store open', async () => {
    const node = await start();
    const error = await rejection(LevelStore.open(directory));
    expect(error.name).to.equal('StoreInUse');
    expect(error.message).to.equal(
      `the store at ${directory} is in use by another process: stop that one, or set another storePath`,
    );
    await node.close();
  });

  it('refuses a store of another format', async () => {
    await written(undefined);
    const store = await LevelStore.open(directory);
    const format = new RowCodec(undefined).encodeLocal('l/format', { version: 2 });
    await store.write([format], store.mark ?? { applied: 0, hash: '0', boot: 0 });
    await store.close();
    const error = await rejection(start());
    expect(error.name).to.equal('StoreMismatch');
    expect(error.message).to.match(/has format 2; this program reads format 1/);
  });

  it('shares unchanged entities between the state and its snapshots again', async () => {
    const node = await start();
    await node.log.propose(routeDraft('a'));
    await node.log.propose(routeDraft('b'));
    await node.log.propose(captureDraft(2));
    await node.log.propose({ ...routeDraft('b', { v: 2 }), mode: 'update' } as ReturnType<typeof routeDraft>);
    await node.close();
    const { state, close } = await start();
    const [a, b] = state.view.snapshot('p')?.entities.routes ?? [];
    expect(a).to.equal(state.view.get('routes', 'a'));
    expect(b?.revision).to.equal(2);
    expect(b?.spec).to.deep.equal({ id: 'b', name: 'b' });
    await close();
  });

  describe('with encryption', () => {
    const refusal = async (encryptionKey?: Uint8Array) => {
      const error = await rejection(start(encryptionKey));
      expect(error.name).to.equal('StoreMismatch');
      return error.message;
    };

    it('opens an encrypted store with its key', async () => {
      await written(key, 'a');
      const node = await written(key, 'b');
      expect(node.state.view.list('routes').map(({ id }) => id)).to.deep.equal(['a', 'b']);
      expect(node.state.keyFingerprint).to.match(/^[0-9a-f]{32}$/);
    });

    it('refuses an encrypted store without a key', async () => {
      await written(key);
      expect(await refusal()).to.match(/is encrypted, but controlPlane.encryption.key is not set/);
    });

    it('refuses another key, even when nothing is sealed yet', async () => {
      await written(key);
      expect(await refusal(otherKey)).to.match(/was encrypted with another key/);
    });

    it('refuses a key for a plain store that holds a secret', async () => {
      const node = await start();
      await node.log.propose(secretDraft);
      await node.close();
      expect(await refusal(key)).to.match(/holds secrets or snapshots in plain text/);
    });

    it('refuses a key for a plain store that holds a snapshot', async () => {
      const node = await start();
      await node.log.propose(captureDraft(0));
      await node.close();
      expect(await refusal(key)).to.match(/holds secrets or snapshots in plain text/);
    });

    it('turns encryption on for a plain store without secrets and snapshots', async () => {
      await written(undefined, 'a');
      const node = await written(key, 'b');
      expect(node.state.view.list('routes')).to.have.length(2);
      expect(await refusal()).to.match(/is encrypted/);
    });
  });

  describe('when files are missing', () => {
    it('refuses a store without CURRENT instead of making an empty one of it', async () => {
      await written(undefined, 'a');
      const before = await readdir(directory);
      await rm(join(directory, 'CURRENT'));
      const error = await rejection(start());
      expect(error.name).to.equal('StoreDamaged');
      expect(error.message).to.match(/is damaged: its file CURRENT is missing; restore a backup/);
      expect(await readdir(directory)).to.deep.equal(before.filter((name) => name !== 'CURRENT'));
    });

    it('refuses a store that lost everything but its witness', async () => {
      await written(undefined, 'a');
      for (const name of await readdir(directory)) if (name !== witnessName) await rm(join(directory, name));
      expect((await rejection(start())).name).to.equal('StoreDamaged');
    });

    it('refuses a store whose witness is not readable', async () => {
      await written(undefined, 'a');
      await writeFile(join(directory, witnessName), 'nonsense');
      expect((await rejection(start())).message).to.match(/WITNESS is not readable/);
    });

    it('goes on with a warning when an operator removed the witness', async () => {
      await written(undefined, 'a');
      await rm(join(directory, witnessName));
      const node = await start();
      expect(node.state.warnings).to.have.length(1);
      expect(node.state.view.get('routes', 'a')?.id).to.equal('a');
      await node.close();
      const next = await start();
      expect(next.state.warnings).to.deep.equal([]);
      await next.close();
    });

    it('starts anew after a crash before the first batch', async () => {
      await (await LevelStore.open(directory)).close();
      const node = await written(undefined, 'a');
      expect(node.state.identity.boot).to.equal(1);
    });
  });

  it('draws nothing but its identity', async () => {
    const drawn: number[] = [];
    const { DurableState } = await import('../../../src/state/durable-state.ts');
    const count = (bytes: number) => {
      drawn.push(bytes);
      return randomBytes(bytes);
    };
    await (await DurableState.open(await LevelStore.open(directory), { randomBytes: count })).close();
    await (await DurableState.open(await LevelStore.open(directory), { randomBytes: count })).close();
    expect(drawn).to.deep.equal([22]);
  });
});
