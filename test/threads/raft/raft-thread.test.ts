import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'chai';

import { RaftThread, type ThreadHost } from '../../../raft/index.ts';
import { eventually } from '../../support/eventually.ts';
import { inDirectory, reopen } from '../../unit/raft/store/log-directory.ts';

describe('the raft worker, from the thread that started it', () => {
  it('commits, reads, tells its status, and leaves a clean log', () =>
    inDirectory(async (directory) => {
      const { thread, seen } = start(directory);
      await eventually(() => expect(seen).to.include('leader'));
      const payload = Buffer.from('a command');
      const [outcome, index] = await Promise.all([thread.propose(payload), thread.read()]);
      if (outcome.kind !== 'committed') throw new Error(`ended as ${outcome.kind}`);
      expect(index).to.be.at.least(1);
      await eventually(() => expect(seen).to.include('applies a command'));
      expect(payload.toString(), 'the caller keeps its bytes').to.equal('a command');
      expect(await thread.status()).to.include({ role: 'leader', suspect: false });
      await thread.stop();
      expect(await thread.status()).to.equal(undefined);
      expect(await thread.propose(payload)).to.deep.equal({ kind: 'notApplied', why: 'stopped' });
      expect(await thread.read()).to.equal(undefined);
      expect((await reopen(directory)).verdict.kind).to.equal('clean');
      expect(seen.join()).not.to.match(/fatal/);
    }));

  it('reports in detail what it does while details are requested', () =>
    inDirectory(async (directory) => {
      const wanted = new SharedArrayBuffer(4);
      const { thread, seen } = start(directory, wanted);
      await eventually(() => expect(seen.join('\n')).to.match(/detail role: role leader/));
      await thread.stop();
      new Int32Array(wanted)[0] = 1;
      const quiet = start(directory, wanted);
      await eventually(() => expect(quiet.seen).to.include('leader'));
      await quiet.thread.stop();
      expect(quiet.seen.join()).not.to.contain('detail');
    }));

  it('goes on while main is blocked: what was asked before is answered by the end', () =>
    inDirectory(async (directory) => {
      const { thread, seen } = start(directory);
      await eventually(() => expect(seen).to.include('leader'));
      const outcome = thread.propose(Buffer.from('while nobody looks'));
      // What is asked crosses at the end of the turn.
      await new Promise((resolve) => setImmediate(resolve));
      blockUntil(() => isInLog(directory, 'while nobody looks'));
      expect(seen).not.to.include('applies while nobody looks');
      expect((await outcome).kind).to.equal('committed');
      await thread.stop();
    }));

  it('reports what it cannot work with as fatal, once, and can still be stopped', () =>
    inDirectory(async (parent) => {
      await writeFile(join(parent, 'file'), 'in the way');
      const { thread, seen } = start(join(parent, 'file'));
      await eventually(() => expect(seen.join()).to.match(/fatal/));
      await thread.stop();
      expect(seen.filter((each) => each.startsWith('fatal'))).to.have.length(1);
    }));
});

function start(directory: string, details?: SharedArrayBuffer): { thread: RaftThread; seen: string[] } {
  const seen: string[] = [];
  const host: ThreadHost = {
    opened: () => thread.begin({ index: 0, term: 0 }),
    cannotListen: (code) => seen.push(`cannot listen ${code}`),
    committed: (batch) => {
      for (const { payload } of batch.entries) seen.push(`applies ${Buffer.from(payload).toString()}`);
      thread.node.applied(batch.last);
    },
    role: ({ role }) => seen.push(role),
    makeCheckpoint: () => thread.node.checkpointFailed(),
    install: () => seen.push('install'),
    adopt: () => seen.push('adopt'),
    discard: () => seen.push('discard'),
    notice: (text) => seen.push(`notice ${text}`),
    warning: (text) => seen.push(`warning ${text}`),
    detail: (text) => seen.push(`detail ${text}`),
    disk: (problem) => seen.push(`disk ${problem}`),
    fatal: (reason) => seen.push(`fatal ${reason}`),
  };
  const alone = { nodeId: 'single', clientAddress: '', keyFingerprint: '', cluster: undefined };
  const options = { directory, ...alone, details };
  const thread = new RaftThread(options, host);
  return { thread, seen };
}

/** This thread does nothing else until then. */
function blockUntil(isSo: () => boolean): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (const end = performance.now() + 15_000; !isSo(); ) {
    expect(performance.now(), 'the time it may take').to.be.below(end);
    Atomics.wait(nothing, 0, 0, 10);
  }
}

function isInLog(directory: string, text: string): boolean {
  const place = join(directory, 'journal');
  const files = readdirSync(place).filter((name) => name.endsWith('.log'));
  return files.some((name) => readFileSync(join(place, name)).includes(text));
}
