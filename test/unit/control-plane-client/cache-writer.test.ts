import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CopyKeeper } from '../../../src/control-plane-client/cache-writer.ts';
import { encodeCopy } from '../../../src/control-plane-client/config-cache.ts';
import { noCookieKeys } from '../../../src/model/cookie-keys.ts';
import { Topic } from '../../../src/util/topic.ts';
import { logCapture } from '../../support/log-capture.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const sealed = encodeCopy({ place: undefined, writtenMs: 1, sha256: '', data: '{}' }, Buffer.alloc(32, 1));

describe('the keeper of the last good copy', () => {
  let storePath: string;

  beforeEach(() => {
    storePath = mkdtempSync(join(tmpdir(), 'sluice-copy-'));
  });

  afterEach(() => rmSync(storePath, { recursive: true }));

  const beginWithAnotherKey = async () => {
    writeFileSync(join(storePath, 'last-good'), sealed);
    const { logger, lines } = logCapture();
    const keeper = new CopyKeeper({
      own: { lastGood: true, encryptionKey: Buffer.alloc(32, 2) },
      storePath,
      source: { begin: () => expect.fail('it is served'), cookieKeys: new Topic(noCookieKeys) },
      clock: new ManualClock(),
      logger,
    });
    await keeper.begin();
    return lines.map((line) => JSON.parse(line) as object);
  };

  it('moves one that it cannot use aside, and says why', async () => {
    const lines = await beginWithAnotherKey();
    expect(lines).to.have.length(1);
    expect(lines[0]).to.deep.include({
      reason: 'it cannot be decrypted with proxy.encryption.key',
      message: 'the last good copy is not used and moved aside as *.damaged',
    });
    expect(readdirSync(storePath)).to.deep.equal(['last-good.damaged']);
  });

  it('says why it does not use one that cannot be moved aside, and that it stays', async () => {
    mkdirSync(join(storePath, 'last-good.damaged'));
    const lines = await beginWithAnotherKey();
    expect(lines).to.have.length(1);
    expect(lines[0]).to.deep.include({
      reason: 'it cannot be decrypted with proxy.encryption.key',
      message: 'the last good copy is not used, and cannot be moved aside',
    });
    expect(lines[0]).to.have.property('stays').that.includes('EISDIR');
    expect(readdirSync(storePath)).to.deep.equal(['last-good', 'last-good.damaged']);
  });
});
