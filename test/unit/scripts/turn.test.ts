import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

const turn = new URL('../../../scripts/turn.mjs', import.meta.url).href;

/** A process that notes when its turn begins and when it ends. */
function inTurn(file: string, notes: string): Promise<string> {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { inTurn } from '${turn}';
    await inTurn(${JSON.stringify(file)}, async () => {
      appendFileSync(${JSON.stringify(notes)}, 'begin ');
      await new Promise((resolve) => setTimeout(resolve, 30));
      appendFileSync(${JSON.stringify(notes)}, 'end ');
    });`;
  return text(spawn(process.execPath, ['--input-type=module', '-e', script]).stderr);
}

describe('two starts in one folder', () => {
  const directories = new TemporaryDirectories();

  after(() => directories.removeAll());

  it('prepare it one after the other', async () => {
    const folder = await directories.make();
    const [file, notes] = [join(folder, 'turn'), join(folder, 'notes')];
    await Promise.all([inTurn(file, notes), inTurn(file, notes), inTurn(file, notes)]);
    expect(readFileSync(notes, 'utf8')).to.equal('begin end '.repeat(3));
    expect(existsSync(file)).to.equal(false);
  });

  it('do not wait for one that was killed', async () => {
    const folder = await directories.make();
    const [file, notes] = [join(folder, 'turn'), join(folder, 'notes')];
    const gone = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => gone.once('close', resolve));
    writeFileSync(file, String(gone.pid));
    expect(await inTurn(file, notes)).to.equal('');
    expect(readFileSync(notes, 'utf8')).to.equal('begin end ');
  });
});
