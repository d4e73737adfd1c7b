import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

import { type CheckpointMeta, emptyConfig } from '../../../../raft/core/types.ts';
import { auditCheckpoints } from '../../../../raft/member/checkpoint-audit.ts';
import { Maintenance, type MaintenanceParts } from '../../../../raft/member/maintenance.ts';
import { writeCheckpoint } from '../../../../raft/store/checkpoint-files.ts';
import { HandClock } from '../member/hand-clock.ts';
import { inDirectory } from '../store/log-directory.ts';

const space = { freeBytes: 2 ** 40, totalBytes: 2 ** 41, freeInodes: 2 ** 20, totalInodes: 2 ** 21 };
const dayMs = 24 * 60 * 60 * 1_000;

describe('the maintenance', () => {
  it('has the kept checkpoints read once a week', async () => {
    const clock = new HandClock();
    let audits = 0;
    const maintenance = careFor(clock, async () => {
      audits += 1;
    });
    const perDay: number[] = [];
    for (let day = 1; day <= 15; day += 1) {
      clock.jump(dayMs - 1_000);
      await clock.advance(1_000);
      perDay.push(audits);
    }
    maintenance.close();
    expect(perDay.slice(5, 8)).to.deep.equal([0, 1, 1]);
    expect(perDay.slice(12, 15)).to.deep.equal([1, 2, 2]);
  });

  it('says so when they cannot be read at all', async () => {
    const clock = new HandClock();
    const notices: string[] = [];
    const maintenance = careFor(clock, () => Promise.reject(new Error('gone')), notices);
    clock.jump(7 * dayMs);
    await clock.advance(1_000);
    maintenance.close();
    expect(notices.join()).to.include('checkpoints cannot be checked: Error: gone');
  });
});

describe('a disk that fills up', () => {
  it('is a warning, and that it is fine again a notice', async () => {
    const clock = new HandClock();
    const lines: string[] = [];
    const mebibyte = 2 ** 20;
    let freeBytes = 2 ** 40;
    const maintenance = new Maintenance({
      ...partsOf(clock),
      measure: () => Promise.resolve({ ...space, freeBytes }),
      notice: (text) => lines.push(`notice ${text}`),
      warning: (text) => lines.push(`warning ${text}`),
    });
    for (const next of [512 * mebibyte, 512 * mebibyte, 64 * mebibyte, 2 ** 40]) {
      freeBytes = next;
      await clock.advance(1_000);
    }
    maintenance.close();
    expect(lines).to.deep.equal([
      'warning disk space is low: 536870912 bytes free',
      'warning disk space is full: 67108864 bytes free',
      'notice disk space is fine: 1099511627776 bytes free',
    ]);
  });
});

describe('a suspicion that is settled', () => {
  it('takes its marker with it once the disk lets it be removed', async () => {
    const clock = new HandClock();
    const lines: string[] = [];
    let isSuspect = true;
    let attempts = 0;
    const maintenance = new Maintenance({
      ...partsOf(clock),
      isSuspect: () => isSuspect,
      trust: () => (++attempts < 4 ? Promise.reject(new Error('EIO')) : Promise.resolve()),
      notice: (text) => lines.push(text),
      warning: (text) => lines.push(text),
    });
    isSuspect = false;
    for (let second = 0; second < 10; second++) await clock.advance(1_000);
    maintenance.close();
    const settled = 'the suspicion is settled: nothing acknowledged is missing';
    expect([attempts, lines]).to.deep.equal([4, [`${settled}, but the marker stays for now: Error: EIO`, settled]]);
  });
});

describe('a file system that does not answer', () => {
  it('is asked once, and again when it has answered', async () => {
    const clock = new HandClock();
    let asked = 0;
    const answer = Promise.withResolvers<typeof space>();
    const maintenance = new Maintenance({
      ...partsOf(clock),
      measure: () => {
        asked += 1;
        return answer.promise;
      },
    });
    await clock.advance(60_000);
    expect(asked).to.equal(1);
    answer.resolve(space);
    await clock.advance(3_000);
    expect(asked).to.be.greaterThan(1);
    maintenance.close();
  });
});

describe('a leader that takes no writes', () => {
  const voters = ['a#1', 'b#2', 'c#3'];
  const bed = (parts: Partial<MaintenanceParts>) => {
    const clock = new HandClock();
    const notices: string[] = [];
    const handedOver: number[] = [];
    const maintenance = new Maintenance({
      ...partsOf(clock),
      leads: () => ({ ...emptyConfig, voters }),
      notice: (text) => notices.push(text),
      warning: () => undefined,
      handOver: (times) => handedOver.push(times) > 0,
      ...parts,
    });
    return { clock, notices, handedOver, maintenance };
  };

  it('hands over when its disk is full, again after a minute, and says why', async () => {
    const measure = () => Promise.resolve({ ...space, freeBytes: 1 });
    const { clock, notices, handedOver, maintenance } = bed({ measure });
    for (let second = 0; second < 30; second++) await clock.advance(1_000);
    expect([handedOver, notices]).to.deep.equal([[0], ['hands leadership over: its disk is full']]);
    for (let second = 0; second < 60; second++) await clock.advance(1_000);
    expect(handedOver).to.deep.equal([0, 1]);
    maintenance.close();
  });

  it('hands over when the program above cannot write its state, and not once it can', async () => {
    let waits = true;
    const { clock, notices, handedOver, maintenance } = bed({ stateWaits: () => waits });
    await clock.advance(2_000);
    expect([handedOver, notices]).to.deep.equal([[0], ['hands leadership over: its state cannot be written']]);
    waits = false;
    for (let second = 0; second < 120; second++) await clock.advance(1_000);
    expect(handedOver).to.deep.equal([0]);
    maintenance.close();
  });

  it('hands over as soon as another voter can be reached', async () => {
    let isReached = false;
    const { clock, notices, maintenance } = bed({ stateWaits: () => true, handOver: () => isReached });
    for (let second = 0; second < 5; second++) await clock.advance(1_000);
    expect(notices).to.deep.equal([]);
    isReached = true;
    await clock.advance(2_000);
    expect(notices).to.deep.equal(['hands leadership over: its state cannot be written']);
    maintenance.close();
  });

  it('leads on where it is the only voter', async () => {
    const { clock, handedOver, maintenance } = bed({
      stateWaits: () => true,
      leads: () => ({ ...emptyConfig, voters: voters.slice(0, 1) }),
    });
    await clock.advance(2_000);
    expect(handedOver).to.deep.equal([]);
    maintenance.close();
  });
});

describe('reading the kept checkpoints again', () => {
  it('finds nothing wrong with what is as it was written', () =>
    inDirectory(async (directory) => {
      const { lost, notices } = await audit(directory, [await write(directory, 10), await write(directory, 20)]);
      expect([lost, notices]).to.deep.equal([[], []]);
    }));

  it('asks for another one when the newest was damaged at rest', () =>
    inDirectory(async (directory) => {
      const metas = [await write(directory, 10), await write(directory, 20)];
      await writeFile(join(directory, metas[1]?.file ?? ''), 'rotten');
      const { lost, notices } = await audit(directory, metas);
      expect(lost).to.deep.equal([20]);
      expect(notices.join()).to.match(/checkpoint at 20: .*(damaged|head)/);
    }));

  it('only tells of an older one', () =>
    inDirectory(async (directory) => {
      const metas = [await write(directory, 10), await write(directory, 20)];
      await writeFile(join(directory, metas[0]?.file ?? ''), 'rotten');
      const { lost, notices } = await audit(directory, metas);
      expect([lost, notices.length]).to.deep.equal([[], 1]);
    }));
});

describe('clocks that differ by more than ten seconds', () => {
  it('are a warning a minute that names node and seconds', async () => {
    const clock = new HandClock();
    const warnings: string[] = [];
    const offsets = { 'b#2': 45_400, 'c#3': -9_900, 'd#4': -3_600_000 };
    const parts = { ...partsOf(clock), clocks: () => offsets, warning: (text: string) => warnings.push(text) };
    const care = new Maintenance(parts);
    for (let second = 0; second < 59; second++) await clock.advance(1_000);
    const told = [
      'the clock of b is 45 s ahead of that of this node',
      'the clock of d is 3600 s behind that of this node',
    ];
    expect(warnings).to.deep.equal(told);
    for (let second = 0; second < 3; second++) await clock.advance(1_000);
    expect(warnings).to.deep.equal([...told, ...told]);
    care.close();
  });
});

function careFor(clock: HandClock, audit: () => Promise<void>, warnings: string[] = []): Maintenance {
  return new Maintenance({ ...partsOf(clock), audit, warning: (text) => warnings.push(text) });
}

const partsOf = (clock: HandClock): MaintenanceParts => ({
  clock,
  policy: { autoJoin: 'none' },
  leads: () => undefined,
  met: () => [],
  change: () => expect.fail('nobody is recruited'),
  stateWaits: () => false,
  handOver: () => expect.fail('leadership stays'),
  isSuspect: () => false,
  trust: () => Promise.resolve(),
  measure: () => Promise.resolve(space),
  audit: () => Promise.resolve(),
  clocks: () => ({}),
  notice: () => expect.fail('nothing happens'),
  warning: () => expect.fail('nothing is wrong'),
});

async function write(directory: string, index: number): Promise<CheckpointMeta> {
  const file = await writeCheckpoint(directory, { index, term: 1, content: [Buffer.from(`content ${index}`)] });
  return { ...file, time: 1, config: emptyConfig };
}

async function audit(directory: string, metas: readonly CheckpointMeta[]) {
  const lost: number[] = [];
  const notices: string[] = [];
  await auditCheckpoints({
    directory,
    kept: () => metas,
    warning: (text) => notices.push(text),
    newestLost: (index) => lost.push(index),
  });
  return { lost, notices };
}
