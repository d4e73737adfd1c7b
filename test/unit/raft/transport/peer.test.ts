import { expect } from 'chai';
import { decodeMessage } from '../../../../raft/codec/message-decoder.ts';
import { FrameDecoder } from '../../../../raft/codec/message-frames.ts';
import { Peer } from '../../../../raft/transport/peer.ts';
import { append, command, heartbeat } from '../codec/messages.ts';

describe('a peer', () => {
  it('sends bulk by the connection that was dialled, and the rest by the one that was accepted', async () => {
    const { peer, dialled, accepted } = met();
    await say(peer);
    expect(accepted.sent).to.deep.equal(['heartbeat']);
    expect(dialled.sent).to.deep.equal(['append']);
  });

  it('sends all by the only connection there is, what is urgent first', async () => {
    for (const wasDialled of [true, false]) {
      const [peer, only] = [new Peer(), new Connection()];
      peer.attach(only, wasDialled);
      await say(peer);
      expect(only.sent).to.deep.equal(['heartbeat', 'append']);
    }
  });

  it('sends what is urgent by the other connection when one is stuck', async () => {
    const { peer, dialled, accepted } = met();
    accepted.isStuck = true;
    await say(peer);
    expect(dialled.sent).to.deep.equal(['heartbeat', 'append']);
  });

  it('goes on by the connection that is left, and says that messages may be lost', async () => {
    for (const end of ['dialled', 'accepted'] as const) {
      const { peer, ...connections } = met();
      expect(peer.detach(connections[end])).to.equal(true);
      const left = end === 'dialled' ? connections.accepted : connections.dialled;
      await say(peer);
      expect(left.sent).to.deep.equal(['heartbeat', 'append']);
    }
  });

  it('prefers the newest connection of each kind: an older one may be broken', async () => {
    const { peer, dialled, accepted } = met();
    const [later, latest] = [new Connection(), new Connection()];
    peer.attach(later, true);
    peer.attach(latest, false);
    await say(peer);
    expect([dialled.sent, accepted.sent]).to.deep.equal([[], []]);
    expect([later.sent, latest.sent]).to.deep.equal([['append'], ['heartbeat']]);
    expect(peer.detach(dialled), 'one that was not in use').to.equal(false);
  });
});

/** Takes all that it is given, or nothing. */
class Connection {
  readonly sent: string[] = [];
  isStuck = false;

  send(take: () => readonly Uint8Array[] | undefined): void {
    if (this.isStuck) return;
    for (let frames = take(); frames !== undefined; frames = take())
      new FrameDecoder().push(Buffer.concat(frames), (bytes) =>
        this.sent.push(decodeMessage(bytes)?.type ?? 'malformed'),
      );
  }

  onDrain(): void {}
}

function met() {
  const [peer, dialled, accepted] = [new Peer(), new Connection(), new Connection()];
  peer.attach(accepted, false);
  peer.attach(dialled, true);
  return { peer, dialled, accepted };
}

/** A large write and a heartbeat, in one turn. */
async function say(peer: Peer): Promise<void> {
  peer.push(append([command(5, 'x')]));
  peer.push(heartbeat());
  await Promise.resolve();
}
