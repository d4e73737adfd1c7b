import { expect } from 'chai';
import { type HashedPeer, type Hashes, judge } from '../../../../src/cluster/state-hash/hash-verdict.ts';

const hashes = (...entries: [number, string][]): Hashes => new Map(entries);
const peer = (nodeId: string, own: Hashes, votes = true): HashedPeer => ({ nodeId, votes, hashes: own });

describe('the verdict on state hashes', () => {
  const own = hashes([5, 'x'], [6, 'y'], [7, 'z']);

  it('is nothing to say where no node passed the same index', () => {
    const verdict = judge(own, [peer('b', hashes([4, 'w'])), peer('c', hashes([8, 'v']))], 2);
    expect(verdict).to.deep.equal({ comparedAt: undefined, condemnedAt: undefined, differing: [] });
  });

  it('is agreement at the highest index that any other node passed too', () => {
    const verdict = judge(own, [peer('b', hashes([5, 'x'], [6, 'y'], [9, 'q'])), peer('c', hashes([5, 'x']))], 2);
    expect(verdict).to.deep.equal({ comparedAt: 6, condemnedAt: undefined, differing: [] });
  });

  it('condemns this node when a majority of the voters agrees on something else', () => {
    const others = [peer('b', hashes([6, 'Y'])), peer('c', hashes([6, 'Y'], [7, 'Z']))];
    expect(judge(own, others, 2)).to.deep.equal({
      comparedAt: 7,
      condemnedAt: 6,
      differing: [
        { nodeId: 'b', index: 6 },
        { nodeId: 'c', index: 7 },
      ],
    });
  });

  it('names the other one, and does not condemn, when that one stands alone', () => {
    const others = [peer('b', hashes([7, 'z'])), peer('c', hashes([7, 'Z']))];
    const verdict = judge(own, others, 2);
    expect(verdict.condemnedAt).to.equal(undefined);
    expect(verdict.differing).to.deep.equal([{ nodeId: 'c', index: 7 }]);
  });

  it('condemns no node without a majority: one against one, and each another', () => {
    expect(judge(own, [peer('b', hashes([7, 'Z']))], 2).condemnedAt).to.equal(undefined);
    const scattered = [peer('b', hashes([7, 'Z'])), peer('c', hashes([7, 'ζ']))];
    expect(judge(own, scattered, 2).condemnedAt).to.equal(undefined);
    const halves = ['b', 'c'].map((nodeId) => peer(nodeId, hashes([7, 'Z'])));
    expect(judge(own, [...halves, peer('d', hashes([7, 'z']))], 3).condemnedAt).to.equal(undefined);
  });

  it('condemns no learner on the word of the only voter', () => {
    expect(judge(own, [peer('b', hashes([7, 'Z']))], 1).condemnedAt).to.equal(undefined);
  });

  it('counts voters only', () => {
    const others = [peer('b', hashes([7, 'Z'])), peer('l', hashes([7, 'Z']), false)];
    expect(judge(own, others, 2).condemnedAt).to.equal(undefined);
  });
});
