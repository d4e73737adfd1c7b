import { expect } from 'chai';

import {
  discoveredFounding,
  type Founder,
  type Founding,
  staticFounding,
} from '../../../../raft/membership/bootstrap.ts';

const list = ['a', 'b', 'c'];

describe('who creates the cluster, with static peers', () => {
  it('the smallest node id, once it has met all the others without a cluster', () => {
    const founding = staticFounding(node('a'), list, [node('c'), node('b')]);
    expect(configIn(founding)?.voters).to.deep.equal(['a#97', 'b#98', 'c#99']);
    expect(configIn(founding)?.members[1]).to.deep.equal({ id: 'b#98', address: 'b:7000', clientAddress: 'b:8080' });
  });

  it('no node while one is missing', () => {
    expect(reason(staticFounding(node('a'), list, [node('c')]))).to.equal('not met yet: b');
  });

  it('no node but the smallest', () => {
    expect(reason(staticFounding(node('b'), list, [node('a'), node('c')]))).to.equal('a creates the cluster');
  });

  it('no node when one belongs to a cluster already: a wiped node must not found a second one', () => {
    const member = node('b', { clusterId: 'ff' });
    expect(reason(staticFounding(node('a'), list, [member, node('c')]))).to.match(/^b belongs to cluster ff, /);
  });

  it('no node under the name of a running member, and what is to be done is said', () => {
    const why =
      'b belongs to cluster ff, whose leader takes this node in once they are connected (autoJoin: learner) or an ' +
      'operator adds it; if a node called a runs there, give this one another nodeId or stop that one';
    const member = node('b', { clusterId: 'ff' });
    expect(reason(staticFounding(node('a'), list, [member]))).to.equal(why);
    expect(reason(discoveredFounding(node('a'), 3, [member]))).to.equal(why);
  });

  it('no node while two have different lists', () => {
    const other = node('b', { expects: ['b', 'c'] });
    expect(reason(staticFounding(node('a'), list, [other, node('c')]))).to.equal('b expects b, c');
  });

  it('a node that is the whole list, at once', () => {
    expect(configIn(staticFounding(node('a'), ['a'], []))?.voters).to.deep.equal(['a#97']);
  });
});

describe('who creates the cluster, with discovery', () => {
  it('the smallest node id, once as many as expected have met each other', () => {
    const founding = discoveredFounding(node('a'), 3, [node('b'), node('c')]);
    expect(configIn(founding)?.voters).to.deep.equal(['a#97', 'b#98', 'c#99']);
  });

  it('no node with fewer or more than expected: an address record says nothing about membership', () => {
    expect(reason(discoveredFounding(node('a'), 3, [node('b')]))).to.match(/3 nodes are expected/);
    expect(reason(discoveredFounding(node('a'), 2, [node('b'), node('c')]))).to.match(/2 nodes are expected/);
  });

  it('no node while one has met others than this node has', () => {
    const behind = node('c', { expects: ['b', 'c'] });
    expect(reason(discoveredFounding(node('a'), 3, [node('b'), behind]))).to.equal('c has met b, c');
  });

  it('no node when two nodes carry the same name', () => {
    const twin = node('b', { incarnation: 5 });
    expect(reason(discoveredFounding(node('a'), 3, [node('b'), twin]))).to.match(/used twice/);
  });

  it('no node when one belongs to a cluster already', () => {
    expect(reason(discoveredFounding(node('a'), 2, [node('b', { clusterId: 'ff' })]))).to.match(
      /belongs to cluster ff/,
    );
  });
});

function node(nodeId: string, different: Partial<Founder> = {}): Founder {
  const addresses = { address: `${nodeId}:7000`, clientAddress: `${nodeId}:8080` };
  return { nodeId, incarnation: nodeId.charCodeAt(0), clusterId: undefined, ...addresses, expects: list, ...different };
}

function configIn(founding: Founding) {
  return founding.kind === 'create' ? founding.config : undefined;
}

function reason(founding: Founding): string {
  return founding.kind === 'wait' ? founding.why : 'creates';
}
