import { expect } from 'chai';
import type { Entry } from '../../../../raft/core/types.ts';
import { Proposals } from '../../../../raft/driver/proposals.ts';

const entry = (index: number, term: number): Entry => ({ index, term, time: 0, kind: 'noop' });

function proposals() {
  const told: string[] = [];
  const each = new Proposals((id, outcome) =>
    told.push(`${id} ${outcome.kind}${'why' in outcome ? ` ${outcome.why}` : ''}`),
  );
  return { each, told };
}

describe('outcome of a proposal', () => {
  it('is committed when the entry at its place has its term', () => {
    const { each, told } = proposals();
    each.add(7, 3, 2);
    each.committed([entry(2, 2), entry(3, 2)]);
    expect(told).to.deep.equal(['7 committed']);
  });

  it('is certainly not applied when another entry took its place', () => {
    const { each, told } = proposals();
    each.add(7, 3, 2);
    each.add(8, 3, 5);
    each.committed([entry(3, 5)]);
    expect(told).to.deep.equal(['7 notApplied overwritten', '8 committed']);
  });

  it('is unknown when a node that stopped leading waits in vain', () => {
    const { each, told } = proposals();
    each.add(7, 3, 2);
    each.leads(false, 1_000, 500);
    each.leads(false, 1_400, 500);
    each.tick(1_499);
    expect(told).to.deep.equal([]);
    each.tick(1_500);
    expect(told).to.deep.equal(['7 unknown stepped down']);
  });

  it('waits on when the node leads again in time', () => {
    const { each, told } = proposals();
    each.add(7, 3, 2);
    each.leads(false, 1_000, 500);
    each.leads(true, 1_100, 500);
    each.tick(9_000);
    expect(told).to.deep.equal([]);
  });

  it('is unknown when a checkpoint hides it, and at the end', () => {
    const { each, told } = proposals();
    each.add(7, 3, 2);
    each.add(8, 4, 2);
    each.compacted(3);
    each.stop();
    each.stop();
    expect(told).to.deep.equal(['7 unknown compacted', '8 unknown stopping']);
  });
});
