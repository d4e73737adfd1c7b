import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CopyDamaged, decodeCopy, encodeCopy, LastGood } from '../../../src/control-plane-client/config-cache.ts';
import { cookieKeysAfter } from '../../support/cookie-rings.ts';
import { seededRandom } from '../../support/random.ts';

const copy = {
  place: { clusterId: 'c', index: 7 },
  writtenMs: 1,
  sha256: 'f'.repeat(64),
  data: JSON.stringify({
    id: 's',
    snapshot: { routes: [{ id: 'r', directResponse: { status: 200, body: 'S3CRET' } }] },
  }),
};
const key = Buffer.alloc(32, 1);

describe('the last good copy', () => {
  let storePath: string;

  beforeEach(() => {
    storePath = mkdtempSync(join(tmpdir(), 'sluice-copy-'));
  });

  afterEach(() => rmSync(storePath, { recursive: true }));

  for (const [name, used] of [
    ['in plain text', undefined],
    ['encrypted', key],
  ] as const) {
    it(`comes back as it was written, ${name}, for its owner alone`, async () => {
      const file = new LastGood({ storePath, key: used });
      expect(await file.read()).to.equal(undefined);
      await Promise.all([file.write({ ...copy, writtenMs: 0 }), file.write(copy)]);
      expect(await new LastGood({ storePath, key: used }).read()).to.deep.equal(copy);
      expect(statSync(file.file).mode & 0o777).to.equal(0o600);
      expect(readdirSync(storePath)).to.deep.equal(['last-good']);
      const withKeys = { ...copy, cookieKeys: cookieKeysAfter(3) };
      expect(decodeCopy(encodeCopy(withKeys, used), used), 'with keys of cookies').to.deep.equal(withKeys);
      expect(readFileSync(file.file).includes('S3CRET')).to.equal(used === undefined);
    });

    it(`is never served with a changed byte, nor cut short or longer, ${name}`, () => {
      const file = encodeCopy(copy, used);
      const random = seededRandom(7);
      for (let round = 0; round < 1_000; round++) {
        const damaged = Buffer.from(file);
        const at = Math.floor(random() * file.length);
        damaged[at] = (damaged[at] ?? 0) ^ (1 + Math.floor(random() * 255));
        expect(() => decodeCopy(damaged, used), `byte ${at}`).to.throw(CopyDamaged);
      }
      expect(() => decodeCopy(file.subarray(0, -1), used)).to.throw(CopyDamaged);
      expect(() => decodeCopy(Buffer.concat([file, Buffer.alloc(1)]), used)).to.throw(CopyDamaged);
      expect(() => decodeCopy(Buffer.alloc(0), used)).to.throw(CopyDamaged);
    });
  }

  it('of another key, with a key where none is expected, or without one, is not served', () => {
    const other = Buffer.alloc(32, 2);
    expect(() => decodeCopy(encodeCopy(copy, key), other)).to.throw(CopyDamaged, 'cannot be decrypted');
    expect(() => decodeCopy(encodeCopy(copy, key), undefined)).to.throw(CopyDamaged, 'is encrypted');
    expect(() => decodeCopy(encodeCopy(copy, undefined), key)).to.throw(CopyDamaged, 'is not encrypted');
  });

  it('is moved aside when it is damaged, and a new one can be written', async () => {
    const file = new LastGood({ storePath, key: undefined });
    await file.write(copy);
    writeFileSync(file.file, 'something else');
    const error = await file.read().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(CopyDamaged);
    await file.moveAside();
    expect(readdirSync(storePath)).to.deep.equal(['last-good.damaged']);
    await file.write(copy);
    expect(await file.read()).to.deep.equal(copy);
  });

  it('leaves nothing half written behind where it cannot be kept', async () => {
    const file = new LastGood({ storePath, key: undefined });
    mkdirSync(file.file);
    const error = await file.write(copy).catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'EISDIR');
    expect(readdirSync(storePath)).to.deep.equal(['last-good']);
  });
});
