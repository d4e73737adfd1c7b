import { expect } from 'chai';

import type { Greeting } from '../../../../raft/codec/greeting.ts';
import type { Config } from '../../../../raft/core/types.ts';
import { Bootstrap } from '../../../../raft/member/member-bootstrap.ts';
import type { ClusterOptions } from '../../../../raft/member/options.ts';
import { HandClock } from '../member/hand-clock.ts';
import { greetingOf } from '../transport/nodes.ts';

const peers = [
  { nodeId: 'a', address: 'a:7000' },
  { nodeId: 'b', address: 'b:7000' },
];
const dns = { peers: [], discovery: { dns: 'sluice', port: 7000, expect: 2 } };

describe('the bootstrap', () => {
  it('creates the cluster once the last peer has introduced itself', async () => {
    const scene = enter({ peers });
    await scene.clock.advance(1_000);
    expect(scene.reasons).to.deep.equal(['not met yet: b']);
    scene.met.push(node('b', ['a', 'b']));
    await scene.clock.advance(200);
    expect(scene.created.map(({ voters }) => voters)).to.deep.equal([['a#97', 'b#98']]);
    await scene.clock.advance(10_000);
    expect(scene.created, 'only once').to.have.length(1);
  });

  it('greets static peers once: their links dial again by themselves', async () => {
    const scene = enter({ peers });
    await scene.clock.advance(60_000);
    expect(scene.greeted).to.deep.equal([['a:7000', 'b:7000']]);
  });

  it('asks discovery again and again, and believes what two rounds agree on', async () => {
    const scene = enter(dns);
    scene.met.push(node('b', ['a', 'b']));
    await scene.clock.advance(900);
    expect(scene.created, 'after one round').to.deep.equal([]);
    await scene.clock.advance(600);
    expect(scene.created, 'in the second').to.have.length(1);
    expect(scene.greeted.length).to.be.greaterThan(1);
  });

  it('waits in each round for those whose greeting takes its time', async () => {
    const scene = enter(dns);
    scene.met.push(node('b', ['a', 'b']));
    await scene.clock.advance(1_000);
    const [b] = scene.met.splice(0);
    await scene.clock.advance(700);
    expect(scene.created).to.deep.equal([]);
    scene.met.push(b!);
    await scene.clock.advance(200);
    expect(scene.created).to.have.length(1);
  });

  it('begins to count again when a round disagrees', async () => {
    const scene = enter(dns);
    scene.met.push(node('b', ['a', 'b']));
    await scene.clock.advance(1_000);
    const [b] = scene.met.splice(0);
    await scene.clock.advance(900);
    scene.met.push(b!);
    await scene.clock.advance(1_000);
    expect(scene.created).to.deep.equal([]);
    await scene.clock.advance(1_200);
    expect(scene.created).to.have.length(1);
  });

  it('says why nothing happens, once for each reason', async () => {
    const scene = enter(dns, new Error('no such name'));
    await scene.clock.advance(10_000);
    expect(scene.reasons).to.include('discovery: Error: no such name');
  });

  it('believes contact only from nodes it was told to expect', () => {
    const { bootstrap } = enter({ peers });
    expect(bootstrap.expects(node('b', []))).to.equal(true);
    expect(bootstrap.expects({ ...node('renamed', []), address: 'b:7000' })).to.equal(true);
    expect(bootstrap.expects(node('z', []))).to.equal(false);
  });
});

function node(nodeId: string, expects: readonly string[]): Greeting {
  return { ...greetingOf(nodeId), clusterId: undefined, address: `${nodeId}:7000`, expects };
}

function enter(options: Pick<ClusterOptions, 'peers'> & Partial<ClusterOptions>, failure?: Error) {
  const clock = new HandClock();
  const met: Greeting[] = [];
  const created: Config[] = [];
  const greeted: (readonly string[])[] = [];
  const reasons: string[] = [];
  const addresses = options.peers.map(({ address }) => address);
  const bootstrap = new Bootstrap({
    options: { ...unused, ...options },
    clock,
    discovery: { addresses: () => (failure === undefined ? Promise.resolve(addresses) : Promise.reject(failure)) },
    self: () => node('a', ['a', 'b']),
    met: () => met,
    greet: (all) => greeted.push(all),
    found: (config) => created.push(config),
    waiting: (why) => reasons.push(why),
  });
  return { bootstrap, clock, met, created, greeted, reasons };
}

const unused: ClusterOptions = {
  bindAddress: 'a:7000',
  advertiseAddress: 'a:7000',
  peers: [],
  discovery: undefined,
  clusterToken: undefined,
  tls: undefined,
  autoJoin: 'none',
};
