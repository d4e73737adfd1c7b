import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Draft } from '../../../src/state/command.ts';
import { Cipher } from '../../../src/state/encryption.ts';
import { LevelStore } from '../../../src/state/level-store.ts';
import { SpecText } from '../../../src/state/spec-text.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { nodeOfOne } from '../../support/node-of-one.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const key = new Uint8Array(32).fill(1);
const body = Buffer.from('body');

describe('Cipher', () => {
  const cipher = new Cipher(key);
  const sealedBy = (by: Cipher, ...row: Parameters<Cipher['sealRow']>): Buffer =>
    Buffer.concat(drain(by.sealRow(...row)));
  const seal = (...row: Parameters<Cipher['sealRow']>): Buffer => sealedBy(cipher, ...row);

  it('seals as nonce, ciphertext and tag', () => {
    const sealed = seal('s/a', 1, 2n, body);
    expect(sealed).to.have.length(12 + body.length + 16);
    expect(cipher.openRow('s/a', sealed)).to.deep.equal(body);
  });

  it('seals the same row at the same index to the same bytes', () => {
    expect(sealedBy(new Cipher(key), 's/a', 1, 2n, body)).to.deep.equal(seal('s/a', 1, 2n, body));
  });

  it('takes another nonce for another index, key or content', () => {
    const nonces = [
      seal('s/a', 1, 2n, body),
      seal('s/a', 2, 2n, body),
      seal('s/b', 1, 2n, body),
      seal('s/a', 1, 3n, body),
    ].map((sealed) => sealed.toString('hex', 0, 12));
    expect(new Set(nonces)).to.have.property('size', 4);
  });

  it('opens nothing that was changed, cut or moved to another row', () => {
    const sealed = seal('s/a', 1, 2n, body);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => cipher.openRow('s/a', changed), `byte ${at}`).to.throw();
    }
    expect(() => cipher.openRow('s/a', sealed.subarray(0, 20))).to.throw('too short');
    expect(() => cipher.openRow('s/b', sealed)).to.throw();
    expect(() => new Cipher(new Uint8Array(32)).openRow('s/a', sealed)).to.throw();
  });

  it('digests with its key, so that a value cannot be guessed from the disk', () => {
    const digests = [cipher, new Cipher(new Uint8Array(32))].map((other) => other.digests.of('s/a', body));
    expect(digests[0]).to.not.equal(digests[1]);
  });

  it('takes a key of 32 bytes only', () => {
    expect(() => new Cipher(new Uint8Array(31))).to.throw('32 bytes');
  });
});

describe('an encrypted store', () => {
  const directories = new TemporaryDirectories();
  const canary = 'canary-7f3a9c';
  const drafts: Draft[] = [
    { op: 'put', kind: 'secrets', id: 's', mode: 'create', spec: new SpecText({ id: 's', name: 's', value: canary }) },
    {
      op: 'put',
      kind: 'secrets',
      id: 't',
      mode: 'create',
      spec: new SpecText({ id: 't', name: 't', value: `${canary}-2` }),
      idempotency: { scope: 'k', bodyHash: 'h' },
    },
    {
      op: 'put',
      kind: 'routes',
      id: 'a',
      mode: 'create',
      spec: new SpecText({ id: 'a', name: 'a', redirect: { host: '{{secret:value:s}}.{{secret:env:E}}' } }),
    },
    {
      op: 'capture',
      id: 'p',
      name: 'p',
      createdAt: '2026-01-01T00:00:00.000Z',
      checkedAt: 3,
      values: { '{{secret:env:E}}': `${canary}-3` },
    },
    { op: 'activate', id: 'p' },
    {
      op: 'put',
      kind: 'secrets',
      id: 's',
      mode: 'update',
      spec: new SpecText({ id: 's', name: 's', value: `${canary}-4` }),
    },
    { op: 'delete', kind: 'secrets', id: 't' },
  ];

  afterEach(() => directories.removeAll());

  async function filesHolding(directory: string, text: string): Promise<string[]> {
    const names = await readdir(directory);
    const contents = await Promise.all(names.map((name) => readFile(join(directory, name))));
    return names.filter((_, at) => contents[at]?.includes(text));
  }

  async function writeAll(directory: string, encryptionKey: Uint8Array | undefined) {
    const node = await nodeOfOne({ store: await LevelStore.open(directory), encryptionKey });
    for (const draft of drafts) await node.log.propose(draft);
    return node;
  }

  it('leaves the text of a secret in no file, while open, after a restart and after compaction', async () => {
    const directory = await directories.make();
    const node = await writeAll(directory, key);
    expect(await filesHolding(directory, canary), 'while open').to.deep.equal([]);
    await node.close();
    const store = await LevelStore.open(directory);
    const again = await nodeOfOne({ store, encryptionKey: key });
    expect(again.state.view.snapshot('p')?.values).to.deep.equal({
      '{{secret:value:s}}': canary,
      '{{secret:env:E}}': `${canary}-3`,
    });
    expect(again.state.view.get('secrets', 's')?.spec.value).to.equal(`${canary}-4`);
    await store.compact();
    expect(await filesHolding(directory, canary), 'after compaction').to.deep.equal([]);
    await again.close();
  });

  it('is a test that can fail: a plain store holds the text', async () => {
    const directory = await directories.make();
    await (await writeAll(directory, undefined)).close();
    expect(await filesHolding(directory, canary)).to.not.deep.equal([]);
  });

  it('wipes what was deleted before encryption was turned on', async () => {
    const directory = await directories.make();
    const plain = await nodeOfOne({ store: await LevelStore.open(directory) });
    for (const draft of drafts.slice(0, 2)) await plain.log.propose(draft);
    for (const id of ['s', 't']) await plain.log.propose({ op: 'delete', kind: 'secrets', id });
    await plain.close();
    expect(await filesHolding(directory, canary)).to.not.deep.equal([]);
    const sealed = await nodeOfOne({ store: await LevelStore.open(directory), encryptionKey: key });
    expect(await filesHolding(directory, canary)).to.deep.equal([]);
    await sealed.close();
  });

  it('seals commands on their way, with any first byte of their nonce', async () => {
    const { state } = await nodeOfOne({ encryptionKey: key });
    for (let at = 0; at < 600; at++) {
      const requestId = { origin: 'n', incarnation: 1, boot: 1, seq: at + 1, ackedBelow: 1 };
      const bytes = state.encode({ op: 'activate', id: canary, v: 1, requestId, time: 1 });
      expect(Buffer.from(bytes).includes(canary)).to.equal(false);
      const { results } = await state.apply([{ index: at + 1, payload: bytes }], at + 1);
      expect(results[0]?.result.status).to.equal(404);
    }
  });
});
