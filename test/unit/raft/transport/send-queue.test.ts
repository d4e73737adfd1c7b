import { expect } from 'chai';
import { decodeMessage } from '../../../../raft/codec/message-decoder.ts';
import { FrameDecoder, fragmentBytesMax } from '../../../../raft/codec/message-frames.ts';
import { SendQueue } from '../../../../raft/transport/send-queue.ts';
import { append, command, heartbeat } from '../codec/messages.ts';

describe('the queue to a peer', () => {
  it('lets a heartbeat out before bulk that waited longer', () => {
    const queue = new SendQueue();
    queue.push(append([command(5, 'x')]));
    queue.push(heartbeat());
    expect(drain(queue)).to.deep.equal(['heartbeat', 'append']);
  });

  it('lets a heartbeat out between the frames of a large command', () => {
    const queue = new SendQueue();
    queue.push(append([command(5, new Uint8Array(3 * fragmentBytesMax))]));
    const frames = [...queue.take()!];
    queue.push(heartbeat());
    while (!queue.isEmpty) frames.push(...queue.take()!);
    expect(typesIn(frames)).to.deep.equal(['heartbeat', 'append']);
  });

  it('drops bulk beyond its limit and says so', () => {
    const queue = new SendQueue({ bulkBytesMax: 2_000, urgentMessagesMax: 4 });
    expect(queue.push(append([command(5, new Uint8Array(5_000))])), 'one that is too large, alone').to.equal(true);
    expect(queue.push(append([command(6, 'x')])), 'one more').to.equal(false);
    expect(queue.dropped).to.equal(1);
  });

  it('keeps the newest urgent messages', () => {
    const queue = new SendQueue({ bulkBytesMax: 1, urgentMessagesMax: 2 });
    for (const round of [1, 2, 3]) expect(queue.push(heartbeat({ round }))).to.equal(true);
    expect(queue.dropped).to.equal(1);
    expect(drain(queue)).to.have.length(2);
  });

  it('forgets bulk when its connection breaks', () => {
    const queue = new SendQueue();
    queue.push(append([command(5, new Uint8Array(2 * fragmentBytesMax))]));
    queue.take();
    queue.push(heartbeat());
    expect(queue.breakOff()).to.equal(true);
    expect(drain(queue)).to.deep.equal(['heartbeat']);
    expect(queue.breakOff()).to.equal(false);
  });
});

function drain(queue: SendQueue): string[] {
  const frames: Uint8Array[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) frames.push(...next);
  return typesIn(frames);
}

function typesIn(frames: readonly Uint8Array[]): string[] {
  const types: string[] = [];
  const fault = new FrameDecoder().push(Buffer.concat(frames), (bytes) => {
    types.push(decodeMessage(bytes)?.type ?? 'malformed');
  });
  expect(fault).to.equal(undefined);
  return types;
}
