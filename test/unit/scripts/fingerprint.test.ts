// Fingerprint of sources: the launcher takes it at each start, by their dates where those tell that no file changed.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { fingerprint, recordedFingerprint } from '../../../scripts/fingerprint.mjs';
import { eventually } from '../../support/eventually.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const paths = ['lock.json', 'src', 'none.json'];
const noon = new Date('2026-01-01T12:00:00Z');

describe('the recorded fingerprint', () => {
  const directories = new TemporaryDirectories();
  let root: string;
  let record: string;

  const write = (name: string, text: string): void => {
    writeFileSync(join(root, name), text);
    utimesSync(join(root, name), noon, noon);
  };
  /** Fingerprint as of a time when the dates of all files have settled. */
  const recorded = (): string => recordedFingerprint(root, paths, record, Date.now() + 60_000);

  /** Resolves once a change has a later date than all before: file systems count in milliseconds. */
  const clockOfFilesMoved = (): Promise<void> =>
    eventually(() => {
      writeFileSync(join(root, 'probe'), '');
      expect(statSync(join(root, 'probe')).ctimeMs).to.be.greaterThan(statSync(record).ctimeMs);
    });

  beforeEach(async () => {
    root = await directories.make();
    record = join(root, 'record');
    mkdirSync(join(root, 'src/deep'), { recursive: true });
    write('lock.json', '{}');
    write('src/a.ts', 'a');
    write('src/deep/b.ts', 'b');
  });
  afterEach(() => directories.removeAll());

  it('is that of the contents, the first time and later', () => {
    const whole = fingerprint(root, paths);
    expect([recorded(), recorded()]).to.deep.equal([whole, whole]);
  });

  it('is taken from the record while no date differs', () => {
    recorded();
    writeFileSync(record, readFileSync(record, 'utf8').replace(fingerprint(root, paths), 'of the record'));
    expect(recorded()).to.equal('of the record');
  });

  for (const [what, change] of Object.entries<() => void>({
    'a file gets another content of the same size and date': () => write('src/deep/b.ts', 'c'),
    'a file is replaced by another of the same size and date': () => {
      write('src/fresh', 'c');
      renameSync(join(root, 'src/fresh'), join(root, 'src/a.ts'));
    },
    'a file is added in a folder below': () => write('src/deep/c.ts', ''),
    'a file is removed': () => rmSync(join(root, 'src/a.ts')),
    'a missing file appears': () => write('none.json', ''),
    'a file gets another name': () => renameSync(join(root, 'src/a.ts'), join(root, 'src/z.ts')),
  }))
    it(`is another once ${what}`, async () => {
      const before = recorded();
      await clockOfFilesMoved();
      change();
      const after = recorded();
      expect(after).to.equal(fingerprint(root, paths)).and.not.equal(before);
      expect(recorded()).to.equal(after);
    });

  it('is not recorded while a file is so young that a change may leave its dates as they are', () => {
    const whole = recordedFingerprint(root, paths, record, statSync(join(root, 'src/deep/b.ts')).ctimeMs);
    expect(whole).to.equal(fingerprint(root, paths));
    expect(() => readFileSync(record)).to.throw('ENOENT');
  });

  it('of other paths is not taken from the record', () => {
    const all = recorded();
    expect(recordedFingerprint(root, ['src'], record)).to.not.equal(all);
  });

  it('is computed where the record is damaged or cannot be written', () => {
    writeFileSync(record, '{"paths":');
    const whole = fingerprint(root, paths);
    expect(recorded()).to.equal(whole);
    expect(recordedFingerprint(root, paths, join(root, 'no/folder'), Date.now() + 60_000)).to.equal(whole);
  });
});
