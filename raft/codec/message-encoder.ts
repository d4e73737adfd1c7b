// Turns a message of the core into the bytes that frames carry. Its counterpart is message-decoder.ts;
// a field added here is added there, with a new protocol version.
import type { Message, MessageType } from '../core/message.ts';
import { ByteWriter } from './byte-writer.ts';
import type { Lane } from './message-frames.ts';
import { entryBytesOf, writeCheckpointMeta, writeEntries } from './primitives.ts';

/** A message begins with the place of its type in this list. Places are never used again for something else. */
export const messageTypes = [
  'preVote',
  'preVoteResp',
  'vote',
  'voteResp',
  'append',
  'appendResp',
  'heartbeat',
  'heartbeatResp',
  'checkpointBegin',
  'checkpointChunk',
  'checkpointAck',
  'timeoutNow',
  'readIndexReq',
  'readIndexResp',
  'removed',
] as const satisfies readonly MessageType[];

/**
 * Returns the lane of a message type. Messages that carry entries or checkpoints are bulk; all that the life of a term
 * depends on overtakes them.
 */
export function laneOf(type: MessageType): Lane {
  return type === 'append' || type === 'checkpointBegin' || type === 'checkpointChunk' ? 'bulk' : 'urgent';
}

/** Longer only with long names of nodes. */
const usualBytes = 256;

/** Layout: type u8 · cluster id (16 bytes) · from · to · term u64 · the fields of its type. */
export const encodeMessage = (message: Message): Buffer => written(message, new ByteWriter(bytesOf(message))).finish();

/** The same bytes in pieces that follow one another: large commands are not copied, and must not change any more. */
export const messagePieces = (message: Message): readonly Uint8Array[] =>
  written(message, new ByteWriter(usualBytes, true)).pieces();

function written(message: Message, writer: ByteWriter): ByteWriter {
  writer.u8(messageTypes.indexOf(message.type)).bytes(Buffer.from(message.clusterId, 'hex'));
  writer.text(message.from).text(message.to).u64(message.term);
  writeFields(writer, message);
  return writer;
}

/** Enough for most, so that nothing is copied while it is written. */
function bytesOf(message: Message): number {
  if (message.type === 'checkpointChunk') return usualBytes + message.data.length;
  if (message.type !== 'append') return usualBytes;
  let bytes = usualBytes;
  for (const entry of message.entries) bytes += entryBytesOf(entry);
  return bytes;
}

function writeFields(writer: ByteWriter, message: Message): void {
  switch (message.type) {
    case 'preVote':
      writer.u64(message.lastIndex).u64(message.lastTerm).u64(message.nonce);
      writer.u64(message.commit).u64(message.commitTerm);
      return;
    case 'vote':
      writer.u64(message.lastIndex).u64(message.lastTerm).u64(message.nonce).flag(message.transfer);
      return;
    case 'preVoteResp':
      writer.flag(message.granted).u64(message.nonce).u64(message.commit).u64(message.commitTerm);
      writeClock(writer, message);
      return;
    case 'voteResp':
      writer.flag(message.granted).u64(message.nonce);
      writeClock(writer, message);
      return;
    case 'append':
      writer.u64(message.prevIndex).u64(message.prevTerm).u64(message.commit);
      writer.u64(message.sendSeq).u64(message.youAcked).u64(message.vouchedBoot);
      writeEntries(writer, message.entries);
      return;
    case 'appendResp':
      writeOptional(writer, message.match);
      writer.flag(message.reject !== undefined);
      if (message.reject !== undefined) {
        writer.u64(message.reject.prevIndex).u64(message.reject.hintIndex).u64(message.reject.hintTerm);
      }
      writer.u64(message.lastIndex).u64(message.sendSeq).u64(message.boot).flag(message.suspect);
      return;
    case 'heartbeat':
      writer.u64(message.commit).u64(message.round);
      writeClock(writer, message);
      return;
    case 'heartbeatResp':
      writer.u64(message.round).u64(message.applyLag).flag(message.diskSlow);
      writer.u64(message.boot).flag(message.suspect);
      writeClock(writer, message);
      return;
    case 'checkpointBegin':
      writer.u64(message.transfer);
      writeCheckpointMeta(writer, message.meta);
      return;
    case 'checkpointChunk':
      writer.u64(message.transfer).u64(message.offset).block(message.data);
      return;
    case 'checkpointAck':
      writer.u64(message.transfer).u64(message.offset).flag(message.refused);
      return;
    case 'timeoutNow':
      return;
    case 'readIndexReq':
      writer.u64(message.id);
      return;
    case 'readIndexResp':
      writer.u64(message.id);
      writeOptional(writer, message.index);
      return;
    case 'removed':
      writer.u64(message.index);
      return;
    default:
      message satisfies never;
  }
}

/** Last field of its message, there or not. */
function writeClock(writer: ByteWriter, { clock }: { readonly clock?: number }): void {
  if (clock !== undefined) writer.u64(clock);
}

function writeOptional(writer: ByteWriter, value: number | undefined): void {
  writer.flag(value !== undefined);
  if (value !== undefined) writer.u64(value);
}
