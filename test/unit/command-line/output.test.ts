import { expect } from 'chai';
import { lineOf, type Rollout, stepsOf } from '../../../src/command-line/live/rollouts.ts';
import { durationText } from '../../../src/command-line/output/duration-text.ts';
import { table } from '../../../src/command-line/output/text-table.ts';

describe('output of the command line', () => {
  const rollout: Rollout = {
    id: 'r',
    snapshotId: 's',
    state: 'running',
    step: 1,
    share: 10,
    steps: [
      { share: 1, hold: '30s' },
      { share: 10, hold: '1h' },
      { share: 100, hold: '0s' },
    ],
    guards: [],
    comment: null,
    events: [],
  };

  it('line of a rollout has the share, the time left, and the candidate beside stable', () => {
    const figures = {
      candidate: { requests: 100, errorRate: 0.0002, p99Ms: 41.2 },
      stable: { requests: 900, errorRate: 0.0003, p99Ms: 39.9 },
    };
    expect(lineOf(rollout, figures)).to.equal(
      'rollout   █░░░░░ 10 %  1h left   errors 0.02 % (stable 0.03 %)   p99 41 ms (stable 40)',
    );
    expect(lineOf({ ...rollout, state: 'paused' })).to.equal('rollout   █░░░░░ 10 %  paused');
  });

  it('steps are shares with holds of their own', () => {
    expect(stepsOf('1:30s,10%,100')).to.deep.equal([{ share: 1, hold: '30s' }, { share: 10 }, { share: 100 }]);
    expect(() => stepsOf('1,ten')).to.throw('1,ten');
  });

  it('lengths of time have two units at most', () => {
    expect([0, 450, 41_000, 372_000, 3_600_000, 90_061_000].map(durationText)).to.deep.equal([
      '0ms',
      '450ms',
      '41s',
      '6m12s',
      '1h',
      '1d1h',
    ]);
  });

  it('tables align wide characters, cut long cells and let none move the cursor', () => {
    const rows = [{ name: '\u6f22\u5b57' }, { name: 'a\u001b[2Jb' }, { name: 'x'.repeat(80) }];
    const text = table(rows, [
      { title: 'name', cell: ({ name }) => name },
      { title: 'n', cell: () => '1', isNumber: true },
    ]);
    const lines = text.trimEnd().split('\n');
    expect(lines[1]).to.equal(`\u6f22\u5b57${' '.repeat(56)}  1`);
    expect(lines[2]).to.equal(`a [2Jb${' '.repeat(54)}  1`);
    expect(lines[3]).to.equal(`${'x'.repeat(59)}…  1`);
  });
});
