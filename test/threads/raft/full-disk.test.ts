import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'chai';

import { readMarker } from '../../../raft/store/markers.ts';
import { needs } from '../../support/needs.ts';
import { inDirectory, reopen } from '../../unit/raft/store/log-directory.ts';

describe('a disk that is full', () => {
  it('delays the write that it rejects: the member goes on once there is room, and nothing acknowledged is lost', function () {
    needs(this, 'bash', 'prlimit');
    return inDirectory(async (directory) => {
      const { acknowledged, whileFull, index, diskProblems, fatalReason } = await fillDisk(directory);
      expect(fatalReason).to.equal(undefined);
      expect(acknowledged.length).to.be.greaterThan(5);
      expect(whileFull).to.equal('notApplied');
      expect(diskProblems[0]).to.match(/^a write to .*journal was rejected and is tried again: EFBIG/);
      expect(diskProblems.at(-1)).to.equal('none');

      const { boot, verdict } = await reopen(directory);
      expect(verdict).to.deep.equal({ kind: 'clean' });
      const kept = boot.entries.map((entry) => entry.index);
      expect(kept).to.include.members([...acknowledged, index]);
    });
  });

  it('leaves a log that the next start takes as it is where the process ends meanwhile', function () {
    needs(this, 'bash', 'prlimit');
    return inDirectory(async (directory) => {
      await fillDisk(directory, 'SIGKILL');
      expect(await readMarker(directory, 'POISON')).to.equal(undefined);
      const { boot, verdict } = await reopen(directory);
      expect(verdict).to.deep.equal({ kind: 'clean' });
      expect(boot.entries.length).to.be.greaterThan(5);
    });
  });
});

interface Report {
  readonly acknowledged: readonly number[];
  readonly whileFull: string;
  readonly index: number;
  readonly diskProblems: readonly string[];
  readonly fatalReason: string | undefined;
}

/** Less than the test may take: a child that hangs ends before the test does. */
const childMs = 25_000;

/** The child may write 2 MiB into a file; once a write was rejected, the limit is lifted as if there were room, or the child is killed. */
async function fillDisk(directory: string, signal?: 'SIGKILL'): Promise<Report> {
  const script = new URL('./full-disk-child.ts', import.meta.url).pathname;
  const limited = `trap '' XFSZ; ulimit -S -f 2048; exec "$0" "$@"`;
  const child = spawn('bash', ['-c', limited, process.execPath, script, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: childMs,
    killSignal: 'SIGKILL',
  });
  let report = '{}';
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== 'full') {
      report = line;
      continue;
    }
    if (signal !== undefined) {
      child.kill(signal);
      continue;
    }
    await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:']);
    child.stdin.write('go on\n');
  }
  return JSON.parse(report);
}
