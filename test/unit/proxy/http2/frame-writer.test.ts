// Frames on their way to a socket: what leaves when, and how many buffers are lent for it meanwhile.
import { expect } from 'chai';
import { FrameBatcher } from '../../../../src/proxy/http2/frame-batcher.ts';
import { FrameWriter } from '../../../../src/proxy/http2/frame-writer.ts';

describe('the frame writer', () => {
  /** A socket that takes what it is given once `room` says so. */
  const blocked = () => {
    const writes: Buffer[] = [];
    const socket = {
      writableLength: 0,
      write(bytes: Uint8Array): boolean {
        writes.push(Buffer.from(bytes));
        socket.writableLength += bytes.length;
        return false;
      },
    };
    const passes: (() => void)[] = [];
    const turn = new FrameBatcher(
      (act) => passes.push(act),
      () => 0,
    );
    const writer = new FrameWriter(socket, turn, () => {});
    return { writes, socket, writer, turn: () => passes.shift()?.() };
  };

  it('gathers the small frames of many ticks in one buffer while the socket takes nothing', () => {
    const { writes, socket, writer, turn } = blocked();
    for (let i = 0; i < 1_000; i++) {
      writer.windowUpdate(1, i + 1);
      turn();
    }
    expect(
      writes.map(({ length }) => length),
      'only the first turn’s has left',
    ).to.deep.equal([13]);
    expect(writer.waiting).to.equal(13_000);
    socket.writableLength = 0;
    writer.onDrain();
    turn();
    expect(writes.map(({ length }) => length)).to.deep.equal([13, 12_987]);
    const ids = Array.from({ length: 999 }, (_, i) => writes[1]?.readUInt32BE(i * 13 + 9));
    expect(ids).to.deep.equal(Array.from({ length: 999 }, (_, i) => i + 2));
  });

  it('fills the buffer that gathered frames lie in after a drain, and leaves no short write behind', () => {
    const { writes, socket, writer, turn } = blocked();
    const body = Buffer.alloc(16_384);
    const stream = { id: 1, lastFlagsAt: 0, lastGathering: 0 };
    const fill = (): void => {
      while (!writer.full) writer.data(stream, 0, body, 0, body.length);
    };
    fill();
    turn();
    for (let drains = 0; drains < 20; drains++) {
      socket.writableLength = 0;
      writer.onDrain();
      fill();
      turn();
    }
    const lengths = writes.map(({ length }) => length);
    expect(Math.min(...lengths.slice(1)), `${lengths}`).to.be.at.least(3 * (16_384 + 9));
    expect(writes.length).to.be.at.most(23);
  });
});
