import { expect } from 'chai';
import fc from 'fast-check';

import { decodeMessage } from '../../../../raft/codec/message-decoder.ts';
import { encodeMessage, laneOf, messagePieces } from '../../../../raft/codec/message-encoder.ts';
import { payloadBytesMax } from '../../../../raft/codec/primitives.ts';
import type { Entry } from '../../../../raft/core/types.ts';
import { anyMessage, append, command, heartbeat } from './messages.ts';

describe('messages between peers', () => {
  it('come back as they were sent', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(decodeMessage(encodeMessage(message))).to.deep.equal(message);
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  it('are refused when a byte is missing or left over', () => {
    fc.assert(
      fc.property(anyMessage, fc.nat(), (message, cut) => {
        const bytes = encodeMessage(message);
        expect(decodeMessage(bytes.subarray(0, cut % bytes.length))).to.equal(undefined);
        expect(decodeMessage(Buffer.concat([bytes, Buffer.of(0)]))).to.equal(undefined);
      }),
      { seed: 6, numRuns: 200 },
    );
  });

  it('are refused when a number is beyond what JavaScript counts exactly', () => {
    const bytes = encodeMessage(heartbeat({ term: 1 }));
    const termAt = bytes.length - 24;
    expect(bytes.readBigUInt64BE(termAt)).to.equal(1n);
    bytes.writeBigUInt64BE(2n ** 53n, termAt);
    expect(decodeMessage(bytes)).to.equal(undefined);
  });

  it('allocate nothing for a list that claims more items than bytes', () => {
    const bytes = encodeMessage(append([]));
    bytes.writeUInt32BE(0xffff_ffff, bytes.length - 4);
    expect(decodeMessage(bytes)).to.equal(undefined);
  });

  it('own their payloads: the buffer they came in may be used again', () => {
    const bytes = encodeMessage(append([command(5, 'kept')]));
    const message = decodeMessage(bytes);
    bytes.fill(0);
    expect(payloads(message?.type === 'append' ? message.entries : [])).to.deep.equal(['kept']);
  });

  it('leave the payloads of an append where they are in memory that may be kept', () => {
    const large = new Uint8Array(100_000).fill(7);
    const bytes = encodeMessage(append([command(5, 'small'), command(6, large)]));
    const message = decodeMessage(bytes, true);
    const [first, second] = message?.type === 'append' ? message.entries : [];
    if (first?.kind !== 'command' || second?.kind !== 'command') throw new Error('two commands were sent');
    for (const { payload } of [first, second]) expect(payload.buffer === bytes.buffer).to.equal(true);
    expect(second.payload).to.deep.equal(large);
  });

  it('are the same in pieces, in which a large command is not copied', () => {
    const large = new Uint8Array(100_000).fill(7);
    const entry = command(6, large);
    const message = append([command(5, 'small'), entry, command(7, 'last')]);
    const pieces = messagePieces(message);
    expect(Buffer.concat(pieces)).to.deep.equal(encodeMessage(message));
    expect(entry.kind === 'command' && pieces.includes(entry.payload)).to.equal(true);
  });

  it('carry a command as long as one may be and not a byte more', () => {
    const largest = new Uint8Array(payloadBytesMax).fill(7);
    expect(decodeMessage(encodeMessage(append([command(5, largest)])))?.type).to.equal('append');
    const beyond = encodeMessage(append([command(5, new Uint8Array(largest.length + 1))]));
    expect(decodeMessage(beyond)).to.equal(undefined);
  });

  it('travel in the bulk lane only when they carry entries or checkpoints', () => {
    expect(laneOf('append')).to.equal('bulk');
    expect(laneOf('checkpointChunk')).to.equal('bulk');
    expect(laneOf('heartbeat')).to.equal('urgent');
    expect(laneOf('voteResp')).to.equal('urgent');
  });
});

function payloads(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'command' ? [Buffer.from(entry.payload).toString()] : []));
}
