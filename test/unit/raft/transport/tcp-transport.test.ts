import { connect } from 'node:net';
import { expect } from 'chai';
import { encodeMessage } from '../../../../raft/codec/message-encoder.ts';
import { encodeFrames } from '../../../../raft/codec/message-frames.ts';
import type { Message } from '../../../../raft/core/message.ts';
import { memberId } from '../../../../raft/core/types.ts';
import { CuttableLink } from '../../../support/cuttable-link.ts';
import { eventually } from '../../../support/eventually.ts';
import { InterceptingLink } from '../../../support/intercepting-link.ts';
import { append, clusterId, command, heartbeat } from '../codec/messages.ts';
import { closeNodes, introduce, openNode, type TestNode } from './nodes.ts';

describe('the transport', () => {
  afterEach(closeNodes);

  it('carries messages both ways', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    introduce(a, b);
    await talking(a, b);
    await talking(b, a);
  });

  it('carries a command that takes many frames', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    introduce(a, b);
    await talking(a, b);
    const payload = new Uint8Array(3 * 1024 * 1024).map((_, at) => at % 251);
    a.transport.send(between(a, b, append([command(5, payload)])));
    await eventually(() => expect(b.received.some(({ type }) => type === 'append')).to.equal(true));
    const arrived = b.received.find((message) => message.type === 'append');
    expect(arrived).to.deep.include({ entries: [command(5, payload)] });
  });

  it('answers a node that cannot be dialled over the connection it opened', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    a.transport.setPeers([b.member]);
    await talking(a, b);
    b.transport.send(between(b, a, heartbeat({ term: 9 })));
    await eventually(() => expect(a.received.map(({ term }) => term)).to.include(9));
  });

  it('lets no heartbeat wait behind bulk that lies in the sockets', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    const link = await CuttableLink.to(Number(b.member.address.split(':')[1]));
    try {
      a.transport.setPeers([{ ...b.member, address: `127.0.0.1:${link.port}` }]);
      b.transport.setPeers([a.member]);
      await talking(a, b);
      await talking(b, a);
      link.pass({ there: { state: 'frozen' } });
      a.transport.send(between(a, b, append([command(5, new Uint8Array(1024 * 1024))])));
      a.transport.send(between(a, b, heartbeat({ term: 9 })));
      await eventually(() => expect(b.received.map(({ term }) => term)).to.include(9));
      expect(b.received.some(({ type }) => type === 'append')).to.equal(false);
      link.heal();
      await eventually(() => expect(b.received.some(({ type }) => type === 'append')).to.equal(true));
    } finally {
      closeNodes();
      await link.close();
    }
  });

  it('is heard under its new name by those who had dialled it under another', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    introduce(a, b);
    await talking(a, b);
    await eventually(() => expect(a.transport.met().map(({ nodeId }) => nodeId)).to.deep.equal(['b']));
    b.received.length = 0;
    a.greeting = { ...a.greeting, nodeId: 'z' };
    a.transport.renamed();
    a.transport.greetAgain();
    const ofZ = { ...between(a, b, heartbeat()), from: memberId(a.greeting) };
    await eventually(() => {
      a.transport.send(ofZ);
      expect(b.received).to.deep.include(ofZ);
    });
  });

  it('finds a peer again that was away', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    introduce(a, b);
    await talking(a, b);
    b.transport.close();
    await eventually(() => expect(a.unreachable).to.include(b.member.id));
    const port = Number(b.member.address.split(':')[1]);
    const again = await openNode('b', { bind: { host: '127.0.0.1', port }, greeting: { boots: 2 } });
    await talking(a, again);
  });

  it('finds a member under another address than the recorded one', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    a.transport.setPeers([{ ...b.member, address: '127.0.0.1:1' }]);
    a.transport.setHints([b.member.address]);
    await talking(a, b);
  });

  it('says so when it has to drop bulk', async () => {
    const a = await openNode('a');
    a.transport.setPeers([{ id: 'z#1', address: '127.0.0.1:1', clientAddress: '' }]);
    a.transport.send(append([command(5, 'x')], { from: a.member.id, to: 'z#1' }));
    await eventually(() => expect(a.unreachable).to.deep.equal(['z#1']));
  });

  it('drops and counts what is not from the peer that introduced itself, or for another cluster', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    introduce(a, b);
    await talking(a, b);
    a.transport.send({ ...between(a, b, heartbeat()), from: 'someone#1' });
    a.transport.send({ ...between(a, b, heartbeat()), clusterId: 'ff'.repeat(16) });
    await eventually(() => expect(b.transport.counts).to.include({ wrongIdentity: 1, wrongCluster: 1 }));
    expect(b.received.filter((message) => message.from !== a.member.id || message.clusterId !== clusterId)).to.be.empty;
  });

  it('closes a connection whose bytes make no sense, and stays', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    const port = Number(b.member.address.split(':')[1]);
    const closed = new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.alloc(64, 0xff)));
      socket.on('close', resolve).on('error', () => {});
    });
    await closed;
    expect(b.refusals.join()).to.match(/frame of 4294967295 bytes/);
    introduce(a, b);
    await talking(a, b);
  });

  it('takes no message before the handshake', async () => {
    const b = await openNode('b');
    const port = Number(b.member.address.split(':')[1]);
    const frames = encodeFrames(Buffer.from([6, 1, 2, 3]), 'urgent');
    await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(frames[0]!));
      socket.on('close', resolve).on('error', () => {});
    });
    expect(b.refusals).to.deep.equal(['unexpected frame in the handshake']);
    expect(b.received).to.deep.equal([]);
  });

  it('tells a node without a cluster that one has made contact, and what it said once the node takes part', async () => {
    const a = await openNode('a');
    const b = await openNode('b', { greeting: { clusterId: undefined }, waits: true });
    a.transport.setPeers([b.member]);
    await eventually(() => {
      a.transport.send(between(a, b, heartbeat()));
      expect(b.contacts).to.include(`${clusterId} a`);
    });
    b.greeting = { ...b.greeting, clusterId };
    b.begin();
    expect(b.received).to.deep.equal([between(a, b, heartbeat())]);
  });

  it('keeps nothing of what another cluster said before the node took part', async () => {
    const a = await openNode('a', { greeting: { clusterId: 'f'.repeat(32) } });
    const b = await openNode('b', { greeting: { clusterId: undefined }, waits: true });
    a.transport.setPeers([b.member]);
    const word = { ...between(a, b, heartbeat()), clusterId: 'f'.repeat(32) };
    await eventually(() => {
      a.transport.send(word);
      expect(b.contacts).to.include(`${word.clusterId} a`);
    });
    b.greeting = { ...b.greeting, clusterId };
    b.begin();
    expect(b.received).to.deep.equal([]);
    expect(b.transport.counts.wrongCluster).to.equal(1);
  });

  it('keeps nothing from before the node took part of a peer that is gone', async () => {
    const [a, c] = [await openNode('a'), await openNode('c')];
    const b = await openNode('b', { greeting: { clusterId: undefined }, waits: true });
    for (const { transport } of [a, c]) transport.setPeers([b.member]);
    await eventually(() => {
      for (const each of [a, c]) each.transport.send(between(each, b, heartbeat()));
      expect(b.contacts).to.include.members([`${clusterId} a`, `${clusterId} c`]);
    });
    a.transport.close();
    await eventually(() => expect(b.transport.met().map(({ nodeId }) => nodeId)).to.deep.equal(['c']));
    b.greeting = { ...b.greeting, clusterId };
    b.begin();
    expect(b.received).to.deep.equal([between(c, b, heartbeat())]);
  });

  it('tells a node without a cluster that one has made contact', async () => {
    const a = await openNode('a');
    const b = await openNode('b', { greeting: { clusterId: undefined } });
    a.transport.setPeers([b.member]);
    await eventually(() => {
      a.transport.send(between(a, b, heartbeat()));
      expect(b.contacts).to.include(`${clusterId} a`);
    });
    expect(b.received).to.deep.equal([]);
  });

  it('ends a connection to which a man in the middle adds a message, and takes nothing of it', () =>
    behindLink(async ({ a, b, link }) => {
      const lie = between(a, b, heartbeat({ term: 1000, commit: 1e9 }));
      link.inject(Buffer.concat(encodeFrames(encodeMessage(lie), 'urgent')));
      await eventually(() => expect(b.refusals.join()).to.match(/sealed record/));
      expect(b.received.map(({ term }) => term)).not.to.include(1000);
      await talking(a, b);
    }));

  it('takes a message once that a man in the middle sends twice', () =>
    behindLink(async ({ a, b, link }) => {
      let isRepeated = false;
      link.meddle = (bytes) => {
        if (isRepeated || bytes.length < 100) return [bytes];
        isRepeated = true;
        return [bytes, bytes];
      };
      a.transport.send(between(a, b, heartbeat({ term: 77 })));
      await eventually(() => expect(b.refusals.join()).to.match(/a sealed record is not what the peer sent/));
      expect(b.received.filter(({ term }) => term === 77)).to.have.length(1);
      await talking(a, b);
    }));

  it('shows nothing of its messages to those who listen', () =>
    behindLink(async ({ a, b, link }) => {
      const seen: Buffer[] = [];
      link.meddle = (bytes) => {
        seen.push(Buffer.from(bytes));
        return [bytes];
      };
      a.transport.send(between(a, b, append([command(5, 'the canary of a secret')])));
      await eventually(() => expect(b.received.some(({ type }) => type === 'append')).to.equal(true));
      expect(Buffer.concat(seen).toString('latin1')).not.to.include('canary');
    }));

  it('refuses a node whose version does not seal, where the token is all that protects', async () => {
    const [a, b] = [await openNode('a', { greeting: { capabilities: 0 } }), await openNode('b')];
    introduce(a, b);
    await eventually(() => expect(b.refusals.join()).to.include('a runs a version that does not seal its messages'));
    expect(b.transport.met()).to.deep.equal([]);
  });

  it('knows who is connected now', async () => {
    const [a, b] = [await openNode('a'), await openNode('b')];
    b.transport.setHints([a.member.address]);
    await eventually(() => expect(a.transport.met().map(({ nodeId }) => nodeId)).to.deep.equal(['b']));
    b.transport.close();
    await eventually(() => expect(a.transport.met()).to.deep.equal([]));
  });
});

interface BehindLink {
  readonly a: TestNode;
  readonly b: TestNode;
  readonly link: InterceptingLink;
}

/** Two nodes that talk, `a` to `b` through the link alone. */
async function behindLink(use: (nodes: BehindLink) => Promise<void>): Promise<void> {
  const [a, b] = [await openNode('a'), await openNode('b')];
  const link = await InterceptingLink.to(Number(b.member.address.split(':')[1]));
  try {
    a.transport.setPeers([{ ...b.member, address: `127.0.0.1:${link.port}` }]);
    await talking(a, b);
    await use({ a, b, link });
  } finally {
    closeNodes();
    await link.close();
  }
}

function between(from: TestNode, to: TestNode, message: Message): Message {
  return { ...message, from: from.member.id, to: to.member.id };
}

/** Sends until one arrives: a connection may still be on its way up. */
async function talking(from: TestNode, to: TestNode): Promise<void> {
  const before = to.received.length;
  await eventually(() => {
    from.transport.send(between(from, to, heartbeat()));
    expect(to.received.length).to.be.greaterThan(before);
  });
}
