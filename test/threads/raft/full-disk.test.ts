import { execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'chai';

import { needs } from '../../support/needs.ts';
import { inDirectory, reopen } from '../../unit/raft/store/log-directory.ts';

describe('a disk that is full', () => {
  // LevelDB acknowledges synced writes after a failed one, and loses them all (raft.md A6.2).
  it('ends in fatal; nothing is acknowledged afterwards, nothing acknowledged before is lost', function () {
    needs(this, 'bash', 'prlimit');
    return inDirectory(async (directory) => {
      const { acknowledged, afterwards, fatalReason } = await fillDisk(directory);
      expect(fatalReason).to.match(/log write failed/);
      expect(acknowledged.length).to.be.greaterThan(5);
      expect(new Set(afterwards)).to.deep.equal(new Set(['notApplied']));

      expect((await reopen(directory)).verdict).to.deep.equal({ kind: 'poisoned', reason: fatalReason });
      await rm(join(directory, 'POISON'));
      const { boot } = await reopen(directory);
      const kept = boot.entries.map(({ index }) => index);
      expect(kept).to.include.members(acknowledged);
    });
  });
});

interface Report {
  readonly acknowledged: readonly number[];
  readonly afterwards: readonly string[];
  readonly fatalReason: string;
}

/** Less than the test may take: a child that hangs ends before the test does. */
const childMs = 25_000;

/** The child may write 2 MiB into a file; once it gave up, the limit is lifted as if somebody had made room. */
async function fillDisk(directory: string): Promise<Report> {
  const script = new URL('./full-disk-child.ts', import.meta.url).pathname;
  const limited = `trap '' XFSZ; ulimit -S -f 2048; exec "$0" "$@"`;
  const child = spawn('bash', ['-c', limited, process.execPath, script, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: childMs,
    killSignal: 'SIGKILL',
  });
  let report = '';
  for await (const line of createInterface({ input: child.stdout })) {
    report = line;
    if (line !== 'full') continue;
    await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:']);
    child.stdin.write('go on\n');
  }
  return JSON.parse(report);
}
