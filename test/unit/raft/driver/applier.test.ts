import { expect } from 'chai';
import type { Entry } from '../../../../raft/core/types.ts';
import { Applier } from '../../../../raft/driver/applier.ts';

function applierOf(credit: number, log: readonly Entry[]) {
  const handed: string[] = [];
  const applier = new Applier(
    0,
    credit,
    (index) => log[index - 1],
    ({ first, last, entries }) => handed.push(`${first}-${last}: ${entries.length}`),
  );
  return { applier, handed };
}

const command = (index: number, bytes: number): Entry => ({
  index,
  term: 1,
  time: 0,
  kind: 'command',
  payload: new Uint8Array(bytes),
});
const megabyte = 1024 * 1024;

describe('applier', () => {
  it('hands commands out in order, and positions without commands with them', () => {
    const { applier, handed } = applierOf(megabyte, [command(1, 1), { ...command(2, 1), kind: 'noop' }, command(3, 1)]);
    applier.extend(2);
    applier.extend(3);
    applier.extend(1);
    expect(handed).to.deep.equal(['1-2: 1', '3-3: 1']);
  });

  it('waits for credit, and goes on when it comes back', () => {
    const { applier, handed } = applierOf(
      megabyte,
      [1, 2, 3].map((index) => command(index, megabyte)),
    );
    applier.extend(3);
    expect(handed).to.deep.equal(['1-1: 1']);
    applier.applied(1);
    expect(handed).to.deep.equal(['1-1: 1', '2-2: 1']);
  });

  it('forgets what a checkpoint took the place of', () => {
    const { applier, handed } = applierOf(
      megabyte,
      [1, 2, 3, 4].map((index) => command(index, megabyte)),
    );
    applier.extend(2);
    applier.skipTo(3);
    applier.extend(4);
    expect(handed).to.deep.equal(['1-1: 1', '4-4: 1']);
  });

  it('never skips a committed entry that is missing', () => {
    const { applier } = applierOf(megabyte, []);
    expect(() => applier.extend(1)).to.throw('entry 1 is committed but not in the log');
  });
});
