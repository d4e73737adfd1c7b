import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LogOutput, type LostLines } from '../../../src/telemetry/log-output.ts';
import { eventually } from '../../support/eventually.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

describe('output of the log', () => {
  const directories = new TemporaryDirectories();
  const descriptors: number[] = [];
  afterEach(async () => {
    for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
    await directories.removeAll();
  });

  function opened(path: string, flags: number): number {
    const descriptor = openSync(path, flags);
    descriptors.push(descriptor);
    return descriptor;
  }

  it('writes lines in order, and what waits at the end', async () => {
    const path = join(await directories.make(), 'log');
    writeFileSync(path, '');
    const output = new LogOutput(opened(path, constants.O_WRONLY | constants.O_APPEND), () => undefined);
    output.write('a\n');
    await eventually(() => expect(readFileSync(path, 'utf8')).to.equal('a\n'));
    output.write('b\n');
    output.write('c\n');
    output.flushSync();
    await eventually(() => expect(readFileSync(path, 'utf8').split('\n').sort()).to.deep.equal(['', 'a', 'b', 'c']));
    expect(output.lostLines).to.equal(0);
  });

  it('loses lines that a full disk refuses, counts them, and ends', async function () {
    if (process.platform !== 'linux') this.skip();
    const output = new LogOutput(opened('/dev/full', constants.O_WRONLY), () => undefined);
    output.write('a\nb\n');
    await eventually(() => expect(output.lostLines).to.equal(2));
    output.write('c\n');
    output.write('d\n');
    output.flushSync();
    await eventually(() => expect(output.lostLines).to.equal(4));
  });

  it('bounds what waits for a reader that stopped, and tells of the loss once it reads again', async () => {
    const path = join(await directories.make(), 'pipe');
    execFileSync('mkfifo', [path]);
    // Open for both, so that opening waits for no other end.
    const pipe = opened(path, constants.O_RDWR | constants.O_NONBLOCK);
    const told: LostLines[] = [];
    const output = new LogOutput(pipe, (lost) => told.push(lost));
    const line = `${'x'.repeat(1023)}\n`;
    const mebibyte = line.repeat(1024);
    for (let sent = 0; sent < 6; sent++) output.write(mebibyte);
    expect(output.lostLines).to.equal(2 * 1024);
    const chunk = Buffer.alloc(65_536);
    let read = 0;
    await eventually(() => {
      for (let bytes = 1; bytes > 0; read += bytes) bytes = readSome(pipe, chunk);
      expect(read).to.equal(4 * 1024 * 1024);
    });
    await eventually(() => expect(told).to.deep.equal([{ lines: 2 * 1024, reason: 'the output is not read' }]));
  });
});

/** Returns the number of bytes that were there; 0 for a pipe without any. */
function readSome(descriptor: number, into: Buffer): number {
  try {
    return readSync(descriptor, into);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0;
    throw error;
  }
}
