import { expect } from 'chai';
import { Readers } from '../../../../raft/driver/readers.ts';

function readers() {
  const asked: number[] = [];
  const told: string[] = [];
  const each = new Readers(
    { retryMs: 500, limitMs: 2_000 },
    40,
    (attempt) => asked.push(attempt),
    (id, index) => told.push(`${id} ${index}`),
  );
  return { each, asked, told };
}

describe('read barriers of a node', () => {
  it('share an attempt only with those who waited when it began', () => {
    const { each, asked, told } = readers();
    each.add(1, 0);
    each.add(2, 0);
    each.add(3, 0);
    expect(asked).to.deep.equal([40]);
    each.answered(40, 10, 5);
    expect([asked, told]).to.deep.equal([[40, 41], ['1 10']]);
    each.answered(41, 12, 9);
    expect(told).to.deep.equal(['1 10', '2 12', '3 12']);
  });

  it('take a late answer to an earlier attempt for nothing', () => {
    const { each, asked, told } = readers();
    each.add(1, 0);
    each.tick(500);
    expect(asked).to.deep.equal([40, 41]);
    each.answered(40, 10, 600);
    expect(told).to.deep.equal([]);
    each.answered(41, 11, 700);
    expect(told).to.deep.equal(['1 11']);
  });

  it('ask again at the next tick after a refusal, not in a loop', () => {
    const { each, asked } = readers();
    each.add(1, 0);
    each.answered(40, undefined, 1);
    expect(asked).to.deep.equal([40]);
    each.tick(100);
    expect(asked).to.deep.equal([40, 41]);
  });

  it('ask a new leader at once, for the one before may have taken the question with it', () => {
    const { each, asked, told } = readers();
    each.add(1, 0);
    each.add(2, 0);
    each.leaderChanged(20);
    expect(asked).to.deep.equal([40, 41]);
    each.answered(40, 10, 21);
    expect(told).to.deep.equal([]);
    each.answered(41, 11, 22);
    expect(told).to.deep.equal(['1 11', '2 11']);
    each.leaderChanged(30);
    expect(asked).to.deep.equal([40, 41]);
  });

  it('ask a new leader at once after a refusal too', () => {
    const { each, asked } = readers();
    each.add(1, 0);
    each.answered(40, undefined, 1);
    each.leaderChanged(2);
    expect(asked).to.deep.equal([40, 41]);
  });

  it('end without an index after their time', () => {
    const { each, told } = readers();
    each.add(1, 0);
    for (let now = 500; now <= 2_000; now += 500) each.tick(now);
    expect(told).to.deep.equal(['1 undefined']);
  });

  it('all end when the node stops', () => {
    const { each, told } = readers();
    each.add(1, 0);
    each.add(2, 0);
    each.stop();
    expect(told).to.deep.equal(['1 undefined', '2 undefined']);
  });
});
