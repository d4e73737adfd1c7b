import { expect } from 'chai';

import { encodeHandshake, type Greeting } from '../../../../raft/codec/greeting.ts';
import { PeerAdmission } from '../../../../raft/transport/peer-admission.ts';
import {
  AcceptorHandshake,
  DiallerHandshake,
  type HandshakeParty,
  type HandshakeStep,
  tokenKey,
} from '../../../../raft/transport/peer-handshake.ts';
import { isPrivateAddress } from '../../../../raft/transport/private-address.ts';
import { greetingOf } from './nodes.ts';

describe('the handshake', () => {
  it('introduces two nodes that hold the same token', () => {
    const { dialler, acceptor } = converse(party('a'), party('b'));
    expect(dialler.accepted?.nodeId).to.equal('b');
    expect(acceptor.accepted?.nodeId).to.equal('a');
  });

  it('refuses a node that holds another token, and tells it nothing about itself', () => {
    const { dialler, acceptor, frames } = converse(party('a', { token: 'guessed' }), party('b'));
    expect(acceptor.refused).to.equal('the cluster token differs');
    expect(dialler.refused).to.match(/the cluster token differs/);
    const said = frames
      .filter(({ from }) => from === 'acceptor')
      .map(({ bytes }) => Buffer.from(bytes).toString('latin1'));
    expect(said.join()).not.to.include('127.0.0.1:2');
  });

  it('never sends the token', () => {
    const { frames } = converse(party('a'), party('b'));
    const wire = Buffer.concat(frames.map(({ bytes }) => Buffer.from(bytes))).toString('latin1');
    expect(wire).not.to.include(sharedToken);
    expect(wire).not.to.include(Buffer.from(tokenKey(sharedToken)).toString('latin1'));
  });

  it('does not take a proof that was recorded before', () => {
    const { frames } = converse(party('a'), party('b'));
    const [hello, proof] = frames.filter(({ from }) => from === 'dialler').map(({ bytes }) => bytes);
    const acceptor = new AcceptorHandshake(party('b', { nonce: 99 }));
    acceptor.take(hello!);
    expect(acceptor.take(proof!).refused).to.equal('the cluster token differs');
  });

  it('does not take its own proof back as the welcome of a peer', () => {
    const dialler = new DiallerHandshake(party('a'));
    const acceptor = new AcceptorHandshake(party('b'));
    const proof = dialler.take(acceptor.take(dialler.hello()).send!).send!;
    const mirrored = Buffer.from(proof);
    mirrored.writeUInt8(3, 0);
    expect(dialler.take(mirrored).refused).to.equal('the cluster token differs');
  });

  it('tells a removed node so, proven by the token, and a forged removal counts for nothing', () => {
    const told: string[] = [];
    const removed = (reason: string): void => void told.push(reason);
    const why = 'a was removed from this cluster: to come back it needs an empty store';
    const dialler = { ...party('a'), removed };
    const acceptor = { ...party('b'), problem: () => why, isRemoved: () => true };
    const { dialler: end } = converse(dialler, acceptor);
    expect([told, end.refused]).to.deep.equal([[why], `the peer refuses: ${why}`]);
    const another = { ...party('b', { token: 'guessed' }), problem: () => why, isRemoved: () => true };
    converse(dialler, another);
    const forger = new DiallerHandshake(dialler);
    forger.take(new AcceptorHandshake(party('b')).take(forger.hello()).send!);
    const forged = encodeHandshake({ type: 'removal', reason: why, mac: new Uint8Array(32) });
    expect(forger.take(forged).refused).to.equal('the cluster token differs');
    expect(told).to.have.length(1);
  });

  it('ends at a frame out of turn', () => {
    const dialler = new DiallerHandshake(party('a'));
    const acceptor = new AcceptorHandshake(party('b'));
    expect(dialler.take(dialler.hello()).refused).to.match(/unexpected/);
    const { send } = acceptor.take(dialler.hello());
    expect(acceptor.take(dialler.hello()).refused).to.match(/unexpected/);
    expect(send).to.have.length(17);
  });
});

describe('admission', () => {
  const self = greetingOf('a');

  it('refuses a node of another cluster and names both', () => {
    expect(problem({ clusterId: 'ff'.repeat(16) })).to.equal(
      `a belongs to cluster ${self.clusterId}, b to cluster ${'ff'.repeat(16)}`,
    );
  });

  it('admits a node that belongs to no cluster yet', () => {
    expect(problem({ clusterId: undefined })).to.equal(undefined);
  });

  it('refuses a node whose data is under another key, or under none', () => {
    expect(problem({ keyFingerprint: 'k2' })).to.match(/a does not encrypt, b encrypts with key k2/);
  });

  it('refuses a node with its own identity in another process', () => {
    const copy = { ...self, run: self.run + 1 };
    expect(
      new PeerAdmission(
        () => self,
        () => false,
      ).problem(copy),
    ).to.match(/its directory was copied/);
  });

  it('refuses a member that was removed, not its successor of the same name', () => {
    const admission = new PeerAdmission(
      () => self,
      (id) => id === 'b#1',
    );
    expect(admission.problem({ ...greetingOf('b'), incarnation: 1 })).to.match(/b was removed.* needs an empty store/);
    expect(admission.problem({ ...greetingOf('b'), incarnation: 2 })).to.equal(undefined);
  });

  it('knows a copied directory by its boot count', () => {
    const admission = new PeerAdmission(
      () => self,
      () => false,
    );
    const b = greetingOf('b');
    expect(admission.problem({ ...b, boots: 4, run: 1 })).to.equal(undefined);
    expect(admission.problem({ ...b, boots: 4, run: 1 }), 'the same process again').to.equal(undefined);
    expect(admission.problem({ ...b, boots: 4, run: 2 }), 'another one').to.match(/copied/);
    expect(admission.problem({ ...b, boots: 5, run: 3 }), 'a restart').to.equal(undefined);
    expect(admission.problem({ ...b, boots: 4, run: 1 }), 'the older one again').to.match(/copied/);
  });

  function problem(different: Partial<Greeting>): string | undefined {
    return new PeerAdmission(
      () => self,
      () => false,
    ).problem({ ...greetingOf('b'), ...different });
  }

  it('tells private addresses from public ones', () => {
    for (const address of ['127.0.0.1', '10.9.8.7', '172.31.0.1', '192.168.1.1', '::1', 'fd00::1', '::ffff:10.0.0.1']) {
      expect(isPrivateAddress(address), address).to.equal(true);
    }
    for (const address of [
      '169.254.1.1',
      'fe80::1',
      '100.64.0.1',
      '8.8.8.8',
      '172.32.0.1',
      '2001:db8::1',
      '::ffff:8.8.8.8',
      undefined,
      '',
    ]) {
      expect(isPrivateAddress(address), String(address)).to.equal(false);
    }
  });
});

const sharedToken = 'a token of sixteen characters';

function party(
  nodeId: string,
  { token = sharedToken, nonce = nodeId.charCodeAt(0), seals = true } = {},
): HandshakeParty {
  const greeting = { ...greetingOf(nodeId), address: nodeId === 'a' ? '127.0.0.1:1' : '127.0.0.1:2' };
  return {
    key: tokenKey(token),
    seals,
    greeting: () => greeting,
    problem: () => undefined,
    isRemoved: () => false,
    removed: () => undefined,
    nonce: () => new Uint8Array(16).fill(nonce),
  };
}

/** Lets the two talk until one of them has nothing to say. */
function converse(a: HandshakeParty, b: HandshakeParty) {
  const sides = { dialler: new DiallerHandshake(a), acceptor: new AcceptorHandshake(b) };
  const frames: { from: 'dialler' | 'acceptor'; bytes: Uint8Array }[] = [];
  const ends: Record<'dialler' | 'acceptor', { accepted?: Greeting; refused?: string }> = { dialler: {}, acceptor: {} };
  let next: Uint8Array | undefined = sides.dialler.hello();
  for (let from: 'dialler' | 'acceptor' = 'dialler'; next !== undefined; ) {
    frames.push({ from, bytes: next });
    from = from === 'dialler' ? 'acceptor' : 'dialler';
    const step: HandshakeStep = sides[from].take(next);
    Object.assign(ends[from], step);
    next = step.send;
  }
  return { ...ends, frames };
}
