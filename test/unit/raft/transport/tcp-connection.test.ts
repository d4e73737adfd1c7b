import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';

import type { Greeting } from '../../../../raft/codec/greeting.ts';
import {
  AcceptorHandshake,
  DiallerHandshake,
  randomNonce,
  tokenKey,
} from '../../../../raft/transport/peer-handshake.ts';
import { SendQueue } from '../../../../raft/transport/send-queue.ts';
import { TcpConnection } from '../../../../raft/transport/tcp-connection.ts';
import { eventually } from '../../../support/eventually.ts';
import { append, command, heartbeat } from '../codec/messages.ts';
import { HandClock } from '../member/hand-clock.ts';
import { greetingOf } from './nodes.ts';

describe('a connection between two nodes', () => {
  it('is closed when the other side does not introduce itself', () =>
    withSockets(async ([socket]) => {
      const clock = new HandClock();
      const end = open(socket, 'a', clock);
      await clock.advance(2_001);
      expect(end.closed).to.deep.equal(['no handshake in time']);
    }));

  it('stays while both sides are idle: each gives a sign of life', () =>
    withPair(async ({ clock, a, b }) => {
      for (let n = 0; n < 20; n++) {
        await clock.advance(500);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect([...a.closed, ...b.closed]).to.deep.equal([]);
    }));

  it('is closed when the other side falls silent: TCP would wait for minutes', () =>
    withPair(async ({ clock, a, sockets }) => {
      sockets[1].pause();
      sockets[1].write = () => true;
      for (let n = 0; n < 6; n++) await clock.advance(500);
      expect(a.closed).to.deep.equal(['the peer is silent']);
    }));

  it('does not blame the other side for a pause of its own', () =>
    withPair(async ({ clock, a }) => {
      clock.jump(30_000);
      await clock.advance(600);
      expect(a.closed).to.deep.equal([]);
    }));

  it('leaves no timer behind when both ends are gone: a node that stops would wait for it', () =>
    withPair(async ({ clock, a, b }) => {
      a.connection.close('this node stops');
      await eventually(() => expect(b.closed).to.deep.equal(['closed by the peer']));
      await eventually(() => expect(clock.pending).to.equal(0));
    }));

  it('stops writing when the socket has enough, and goes on later', () =>
    withPair(async ({ a, b, sockets }) => {
      sockets[1].pause();
      const queue = new SendQueue();
      for (let n = 0; n < 40; n++) queue.push(append([command(5 + n, new Uint8Array(250_000))]));
      queue.push(heartbeat());
      const send = () => a.connection.send(() => queue.take());
      a.connection.onDrain(send);
      send();
      expect(queue.isEmpty, 'everything at once').to.equal(false);
      sockets[1].resume();
      await eventually(() => expect(queue.isEmpty).to.equal(true));
      await eventually(() => expect(b.messages.length).to.be.greaterThan(25));
    }));
});

interface End {
  readonly connection: TcpConnection;
  readonly accepted: Greeting[];
  readonly messages: number[];
  readonly closed: string[];
}

function open(socket: Socket, nodeId: 'a' | 'b', clock: HandClock): End {
  const greeting = greetingOf(nodeId);
  const party = {
    key: tokenKey('a token'),
    seals: true,
    greeting: () => greeting,
    problem: () => undefined,
    isRemoved: () => false,
    removed: () => undefined,
    nonce: randomNonce,
  };
  const accepted: Greeting[] = [];
  const messages: number[] = [];
  const closed: string[] = [];
  const handshake = nodeId === 'a' ? new DiallerHandshake(party) : new AcceptorHandshake(party);
  const connection = new TcpConnection(socket, handshake, clock, {
    accepted: (peer) => accepted.push(peer),
    message: (bytes) => messages.push(bytes.length) > 0,
    closed: (reason) => closed.push(reason),
  });
  return { connection, accepted, messages, closed };
}

interface Pair {
  readonly clock: HandClock;
  readonly a: End;
  readonly b: End;
  readonly sockets: readonly [Socket, Socket];
}

/** Two ends that have introduced themselves, on one clock. */
function withPair(use: (pair: Pair) => Promise<void>): Promise<void> {
  return withSockets(async (sockets) => {
    const clock = new HandClock();
    const b = open(sockets[1], 'b', clock);
    const a = open(sockets[0], 'a', clock);
    await eventually(() => expect([...a.accepted, ...b.accepted]).to.have.length(2));
    await use({ clock, a, b, sockets });
  });
}

async function withSockets(use: (sockets: readonly [Socket, Socket]) => Promise<void>): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const dialled = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
  const [accepted]: Socket[] = await once(server, 'connection');
  try {
    await use([dialled, accepted!]);
  } finally {
    dialled.destroy();
    accepted?.destroy();
    server.close();
  }
}
