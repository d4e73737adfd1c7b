import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CopyKeeper } from '../../../src/control-plane-client/cache-writer.ts';
import { decodeCopy, encodeCopy } from '../../../src/control-plane-client/config-cache.ts';
import type { Arrival } from '../../../src/control-plane-client/remote-source.ts';
import { noCookieKeys } from '../../../src/model/cookie-keys.ts';
import { Topic } from '../../../src/util/topic.ts';
import { eventually } from '../../support/eventually.ts';
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

  it('writes the newest copy once the disk takes it, and logs each outage once', async () => {
    const { logger, lines } = logCapture();
    const clock = new ManualClock();
    const inTheWay = join(storePath, 'proxy');
    writeFileSync(inTheWay, 'no directory');
    const keeper = new CopyKeeper({
      own: { lastGood: true, encryptionKey: undefined },
      storePath: inTheWay,
      source: { begin: () => expect.fail('there is none'), cookieKeys: new Topic(noCookieKeys) },
      clock,
      logger,
    });
    const told = () => lines.map((line) => (JSON.parse(line) as { message: string }).message);
    const keep = (data: string): void => keeper.keep({ place: undefined, sha256: '', data, from: 'stream' } as Arrival);
    keep('"first"');
    await eventually(() => expect(told()).to.deep.equal(['the last good copy cannot be written']));
    keep('"second"');
    await eventually(() => expect(clock.pending).to.equal(1));
    rmSync(inTheWay);
    await eventually(() => {
      clock.advance(2_000);
      expect(told().at(-1)).to.equal('the last good copy is written again');
    });
    expect(told()).to.have.length(2);
    expect(decodeCopy(readFileSync(join(inTheWay, 'last-good')), undefined).data).to.equal('"second"');
    await keeper.settled();
    expect(clock.pending).to.equal(0);
  });
});
