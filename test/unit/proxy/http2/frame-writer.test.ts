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
    expect(writes.map(({ length }) => length)).to.deep.equal([13, 12_987]);
    const ids = Array.from({ length: 999 }, (_, i) => writes[1]?.readUInt32BE(i * 13 + 9));
    expect(ids).to.deep.equal(Array.from({ length: 999 }, (_, i) => i + 2));
  });
});
